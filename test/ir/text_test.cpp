// The text form: its spelling, and that parsing restores what was printed.
#include "ir/text/text.h"

#include <cstring>
#include <sstream>

#include <gtest/gtest.h>

#include "ir/build.h"
#include "primitives/control/collectives.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"

namespace calque::test {
namespace {

TEST(Text, ReadsLikeAJaxpr) {
  Graph g;
  g.set_name("step");
  const Value x = g.add_input(f32({3})), s = g.add_input(f32());
  const Value b = add(g, "broadcast", {s}, {{"shape", std::vector<int64_t>{3}}, {"axes", std::vector<int64_t>{}}}, {},
                      Location("a.cpp", 12, 5))
                      .result();
  const Value y = op(g, "mul", {x, b});
  const Value z = op(g, "add", {y, g.add_literal(make_literal(DType::f32, 2.5), f32({3}))});
  add(g, "debug_print", {z}, {{"format", std::string("z = {}")}});
  g.set_outputs({z, x});
  EXPECT_EQ(print(g),
            "calque 1\n"
            "graph step(%0: f32[3], %1: f32[]) {\n"
            "  %2: f32[3] = broadcast[axes=[], shape=[3]] %1 loc(\"a.cpp\":12:5)\n"
            "  %3: f32[3] = mul %0 %2\n"
            "  %4: f32[3] = add %3 2.5:f32[3]\n"
            "  debug_print[format=\"z = {}\"] %4\n"
            "  return %4, %0\n"
            "}\n");
}

TEST(Text, SubgraphsAreScopesOfTheirOwn) {
  Graph negate, same;
  negate.set_name("negate");
  negate.set_outputs({op(negate, "neg", {negate.add_input(f32())})});
  same.set_outputs({same.add_input(f32())});
  Graph g;
  const Value p = g.add_input({DType::bool_, {}}), x = g.add_input(f32());
  g.set_outputs({add(g, "cond", {p, x}, {}, {negate, same}, Location("a.cpp", 2, 1)).result()});
  EXPECT_EQ(print(g),
            "calque 1\n"
            "graph (%0: bool[], %1: f32[]) {\n"
            "  %2: f32[] = cond %0 %1 {\n"
            "    negate(%0: f32[]) {\n"
            "      %1: f32[] = neg %0\n"
            "      return %1\n"
            "    }\n"
            "    (%0: f32[]) {\n"
            "      return %0\n"
            "    }\n"
            "  } loc(\"a.cpp\":2:1)\n"
            "  return %2\n"
            "}\n");
  EXPECT_EQ(parse(print(g)), g);
}

TEST(Text, ConstantsAreSectionsAtTheEnd) {
  Graph g;
  const AnyArray small = AnyArray::full<float>({2}, 0.5f);
  const Value a = g.add_constant(small), b = g.add_constant(AnyArray::full<bool>({65}, true));
  g.add_constant(AnyArray::full<float>({2}, 9.0f));  // unused
  const Value c = g.add_constant(AnyArray::full<float>({2000}, 1.0f));
  g.set_outputs({op(g, "add", {a, a}), b, c});
  const std::string text = print(g);
  EXPECT_NE(text.find("= add @c0 @c0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("}\nconstant @c0: f32[2] = [0.5, 0.5]\nconstant @c1: bool[65] = base64 \"AQEB"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nconstant @c2: f32[2000] = xxh3 \""), std::string::npos) << text;
  const Graph read = parse(text);
  EXPECT_EQ(read, g);
  EXPECT_EQ(print(read), text);
  EXPECT_FALSE(read.constant(read.outputs()[2]).has_data());
  EXPECT_TRUE(read.constant(read.outputs()[1]).has_data());
}

TEST(Text, GraphsShareTheSectionsOfTheArraysTheyShare) {
  const AnyArray array = AnyArray::full<float>({3}, 2.0f);
  Graph body;
  body.set_outputs({op(body, "add", {body.add_input(f32({3})), body.add_constant(array)})});
  Graph g;
  const Value c = g.add_constant(array), d = g.add_constant(array);
  const Value x = add(g, "call", {c}, {{"name", std::string("f")}}, {body}).result();
  g.set_outputs({x, d});
  const std::string text = print(g);
  EXPECT_NE(text.find("add %0 @c0"), std::string::npos) << text;
  EXPECT_NE(text.find("@c1: f32[3]"), std::string::npos) << text;
  EXPECT_EQ(text.find("@c2"), std::string::npos) << text;
  EXPECT_EQ(parse(text), g);
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Text, AcceptsWhatPeopleWrite) {
  const Graph g = parse(
      "// a comment\n"
      "calque 1 graph f(%x: f32[2], %n : i32[]) { // types of results may be left out\n"
      "%y = mul %x -0x1.8p1:f32[2]  %z=add %y %x\n"
      "return %z, %n, inf:f32[]}");
  EXPECT_EQ(g.num_equations(), 2u);
  EXPECT_EQ(g.literal(g.equations()[0].operand(1)).as<float>(), -3.0f);
  EXPECT_EQ(g.outputs().size(), 3u);
}

TEST(Text, AttributesOfEveryKindReadBack) {
  // No primitive has all kinds of attributes; host_call and debug_print have the uncommon ones.
  Graph g;
  const Value x = g.add_input(f32({2}));
  const auto opaque = std::make_shared<const UnboundOpaque>("my \"fn\"");
  add(g, "host_call", {x},
      {{"function", std::shared_ptr<const Opaque>(opaque)},
       {"results", std::vector<Type>{f32({2}), {DType::u8, {}}, {DType::c64, {0, 3}}}}});
  g.set_outputs({x});
  const std::string text = print(g);
  EXPECT_NE(text.find("function=<\"my \\\"fn\\\"\">, results=(f32[2], u8[], c64[0,3])"), std::string::npos) << text;
  const Graph read = parse(text);
  EXPECT_EQ(print(read), text);
  EXPECT_FALSE(read == g) << "an opaque is equal to itself alone";
}

template <class T, class Bits>
void expect_literal_round_trip(Bits bits) {
  T value, read;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  std::string text;
  text::append_element(text, dtype_of<T>, &value);
  std::string_view token = text;
  ASSERT_TRUE(text::read_element(token, dtype_of<T>, &read)) << text;
  ASSERT_EQ(std::memcmp(&value, &read, sizeof value), 0) << text << " bits " << +bits;
}

TEST(TextLiterals, EverySixteenBitFloatReadsBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    expect_literal_round_trip<float16>(static_cast<uint16_t>(bits));
    expect_literal_round_trip<bfloat16>(static_cast<uint16_t>(bits));
  }
}

TEST(TextLiterals, RandomBitsReadBack) {
  Rng rng(1);
  for (int i = 0; i < 100'000; ++i) {
    expect_literal_round_trip<float>(static_cast<uint32_t>(rng.next()));
    expect_literal_round_trip<double>(rng.next());
    expect_literal_round_trip<int64_t>(rng.next());
    expect_literal_round_trip<uint64_t>(rng.next());
    expect_literal_round_trip<int8_t>(static_cast<uint8_t>(rng.next()));
  }
}

TEST(TextLiterals, SpecialValuesHaveNames) {
  const auto text = [](float v) {
    std::string out;
    text::append_element(out, DType::f32, &v);
    return out;
  };
  EXPECT_EQ(text(-0.0f), "-0");
  EXPECT_EQ(text(std::numeric_limits<float>::infinity()), "inf");
  EXPECT_EQ(text(-std::numeric_limits<float>::infinity()), "-inf");
  EXPECT_EQ(text(std::bit_cast<float>(0x7fc00000u)), "nan");
  EXPECT_EQ(text(std::bit_cast<float>(0xffc00000u)), "-nan");
  EXPECT_EQ(text(std::bit_cast<float>(0x7fc00001u)), "nan(0x7fc00001)");
}

TEST(Text, Base64ReadsBack) {
  Rng rng(2);
  for (size_t size = 0; size < 50; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(rng.next());
    std::string text;
    text::append_base64(text, bytes.data(), bytes.size());
    EXPECT_EQ(text::read_base64(text), bytes);
  }
  EXPECT_FALSE(text::read_base64("abc"));
  EXPECT_FALSE(text::read_base64("ab=c"));
  EXPECT_FALSE(text::read_base64("a==="));
  EXPECT_FALSE(text::read_base64("====abcd"));
}

void expect_round_trip(const Graph& g, uint64_t seed) {
  const std::string text = print(g);
  Graph read;
  try {
    read = parse(text);
  } catch (const Error& e) {
    FAIL() << "seed " << seed << ": " << e.what() << "\n" << text;
  }
  read.verify();
  ASSERT_TRUE(read == g) << "seed " << seed << "\n" << text << "\nread back as\n" << read;
  ASSERT_EQ(print(read), text) << "seed " << seed;
}

TEST(TextRoundTrip, RandomGraphs) {
  for (uint64_t seed = 0; seed < (kAddressSanitizer ? 1000 : 5000); ++seed) {
    const Graph g = random_graph(seed, {.effects = true});
    g.verify("random_graph");
    expect_round_trip(g, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(TextRoundTrip, ComplexGraphs) {
  RandomGraphOptions options;
  options.dtypes = {DType::c64, DType::c128, DType::f32, DType::bool_};
  for (uint64_t seed = 0; seed < 500; ++seed) {
    expect_round_trip(random_graph(seed, options), seed);
    if (HasFatalFailure()) return;
  }
}

TEST(TextRoundTrip, EditedGraphs) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Graph g = random_graph(seed);
    for (Equation& e : g.equations()) {
      if (!e.results().empty() && is_floating(g.dtype(e.result()))) {
        g.replace_all_uses(e.result(), g.insert_before(e, "neg", {g.add_literal(Literal{}, g.type(e.result()))}));
        break;
      }
    }
    expect_round_trip(g, seed);
    if (HasFatalFailure()) return;
  }
}

/// Whether the list contains the primitive of that name.
template <class... Rules>
bool contains(primitives::TypeList<Rules...>, std::string_view name) {
  return ((Rules::name == name) || ...);
}

TEST(RandomGraphs, UseEveryPrimitiveAndDependOnTheSeedAlone) {
  std::map<std::string, int> uses;
  const std::function<void(const Graph&)> count = [&](const Graph& g) {
    for (const Equation& e : g.equations()) {
      ++uses[e.primitive()];
      for (const Graph& sub : e.subgraphs()) count(sub);
    }
  };
  for (uint64_t seed = 0; seed < 2000; ++seed) count(random_graph(seed, {.effects = true}));
  for (size_t id = 0; id < num_primitives(); ++id) {
    const std::string& name = primitive(static_cast<PrimitiveId>(id)).name;
    const bool complex_only = name == "complex" || name == "real" || name == "imag" || name == "conj";
    const bool no_value = name == "custom_linear", no_derivative = name == "captured";
    // Of any numbers, few matrices have a factor, and their rounding depends on their condition.
    constexpr std::string_view kOfMatrices[] = {"cholesky",
                                                "triangular_solve",
                                                "lu",
                                                "lu_solve",
                                                "batched_cholesky",
                                                "det",
                                                "slogdet",
                                                "qr",
                                                "eigh",
                                                "svd",
                                                "pinv",
                                                "eig"};
    const bool of_matrices = std::ranges::find(kOfMatrices, name) != std::end(kOfMatrices);
    // test/sorting and test/spectral have their own rows, test/implicit its own graphs.
    constexpr std::string_view kElsewhere[] = {"host_call", "sort", "permute", "fft", "custom_root", "linear_solve"};
    const bool elsewhere = std::ranges::find(kElsewhere, name) != std::end(kElsewhere);
    // Those need an axis or a group, which test/collectives gives them.
    const bool collective = contains(primitives::CollectivesList{}, name);
    if (complex_only || no_value || no_derivative || of_matrices || elsewhere || collective) continue;
    EXPECT_GT(uses[name], 0) << name;
  }
  EXPECT_EQ(print(random_graph(77)), print(random_graph(77)));
}

}  // namespace
}  // namespace calque::test
