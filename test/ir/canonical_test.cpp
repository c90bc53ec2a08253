#include <set>

#include <gtest/gtest.h>

#include "ir/build.h"
#include "support/random/random_graph.h"

namespace calque::test {
namespace {

std::vector<std::string> names(const Graph& g) {
  std::vector<std::string> out;
  for (const Equation& e : g.equations()) out.push_back(e.primitive());
  return out;
}

using Names = std::vector<std::string>;

/// sin(x) + cos(x) with the operands recorded in either order: C++ compilers differ in evaluation order.
Graph recorded(bool right_first) {
  Graph g;
  const Value x = g.add_input(f32());
  Value s, c;
  if (right_first) c = op(g, "cos", {x});
  s = op(g, "sin", {x});
  if (!right_first) c = op(g, "cos", {x});
  g.set_outputs({op(g, "add", {s, c})});
  return g;
}

TEST(Canonicalize, DoesNotDependOnTheOrderOfRecording) {
  const Graph a = canonicalize(recorded(false)), b = canonicalize(recorded(true));
  EXPECT_EQ(names(a), (Names{"sin", "cos", "add"}));
  EXPECT_EQ(a, b);
  EXPECT_EQ(print(a), print(b));
}

TEST(Canonicalize, DropsWhatNothingNeeds) {
  Graph g;
  const Value x = g.add_input(f32());
  op(g, "exp", {op(g, "sin", {x})});
  g.add_literal(make_literal(DType::f32, 1.0), f32());
  g.set_outputs({op(g, "neg", {x})});
  const Graph c = canonicalize(g);
  EXPECT_EQ(names(c), Names{"neg"});
  EXPECT_EQ(c.num_values(), 2u);
  c.verify("canonicalize");
}

TEST(Canonicalize, KeepsEffectsInTheirOrderAndFirst) {
  Graph g;
  const Value x = g.add_input(f32());
  const Value y = op(g, "neg", {x});
  const Value z = op(g, "abs", {x});
  add(g, "debug_print", {z}, {{"format", std::string("1 {}")}});
  add(g, "debug_print", {x}, {{"format", std::string("2 {}")}});
  g.set_outputs({y});
  const Graph c = canonicalize(g);
  EXPECT_EQ(names(c), (Names{"abs", "debug_print", "debug_print", "neg"}));
  EXPECT_EQ(c.equations()[1].attributes().get<std::string>("format"), "1 {}");
}

TEST(Canonicalize, SeesEffectsInsideSubgraphs) {
  Graph quiet, loud;
  quiet.set_outputs({quiet.add_input(f32())});
  const Value v = loud.add_input(f32());
  add(loud, "debug_print", {v}, {{"format", std::string("{}")}});
  loud.set_outputs({v});
  Graph g;
  const Value p = g.add_input({DType::bool_, {}}), x = g.add_input(f32());
  add(g, "cond", {p, x}, {}, {quiet, loud});
  add(g, "cond", {p, x}, {}, {quiet, quiet});
  g.set_outputs({x});
  EXPECT_EQ(canonicalize(g).num_equations(), 1u);
}

TEST(Canonicalize, RenumbersAndReordersInsideSubgraphs) {
  const auto wrap = [](const Graph& body) {
    Graph g;
    const Value x = g.add_input(f32());
    g.set_outputs({add(g, "call", {x}, {{"name", std::string("f")}}, {body}).result()});
    return g;
  };
  EXPECT_EQ(canonicalize(wrap(recorded(false))), canonicalize(wrap(recorded(true))));
}

TEST(Canonicalize, IsIdempotentAndValidOnRandomGraphs) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph c = canonicalize(random_graph(seed));
    c.verify("canonicalize");
    const Graph again = canonicalize(c);
    ASSERT_EQ(c, again) << c;
    ASSERT_EQ(c.num_values(), again.num_values());
  }
}

Graph deep_chain(int length) {
  Graph g;
  Value v = g.add_input(f32());
  for (int i = 0; i < length; ++i) v = op(g, i % 2 == 0 ? "neg" : "abs", {v});
  g.set_outputs({v});
  return g;
}

TEST(DeepGraphs, DoNotExhaustTheStack) {
  const Graph g = deep_chain(200'000);
  const Graph c = canonicalize(g);
  EXPECT_EQ(c, g);
  EXPECT_EQ(canonical_hash(c), canonical_hash(g));
  c.verify();
  const std::string text = print(c);
  EXPECT_EQ(parse(text), c);
}

TEST(CanonicalHash, IgnoresNamesLocationsNumbersAndOrder) {
  Graph a = recorded(false);
  Graph b = recorded(true);
  b.set_name("other");
  EXPECT_EQ(canonical_hash(a), canonical_hash(b));
  EXPECT_EQ(canonical_hash(a), canonical_hash(canonicalize(b)));
  Graph dead = a;
  op(dead, "exp", {dead.inputs()[0]});
  EXPECT_EQ(canonical_hash(a), canonical_hash(dead));
  Graph located;
  const Value x = located.add_input(f32());
  const Value s = add(located, "sin", {x}, {}, {}, Location("z.cpp", 9)).result();
  located.set_outputs({op(located, "add", {s, op(located, "cos", {x})})});
  EXPECT_EQ(canonical_hash(a), canonical_hash(located));
}

TEST(CanonicalHash, SeesEveryDifference) {
  std::set<GraphHash> hashes;
  size_t count = 0;
  const auto insert = [&](const Graph& g) {
    hashes.insert(canonical_hash(g));
    ++count;
  };
  const auto unary = [](const char* primitive, Type type, Attributes attributes = {}) {
    Graph g;
    g.set_outputs({op(g, primitive, {g.add_input(std::move(type))}, std::move(attributes))});
    return g;
  };
  insert(unary("neg", f32({3})));
  insert(unary("neg", f32({3, 1})));
  insert(unary("neg", i32({3})));
  insert(unary("abs", f32({3})));
  insert(unary("reverse", f32({3, 3}), {{"axes", std::vector<int64_t>{0}}}));
  insert(unary("reverse", f32({3, 3}), {{"axes", std::vector<int64_t>{1}}}));
  insert(unary("reverse", f32({3, 3}), {{"axes", std::vector<int64_t>{0, 1}}}));
  insert(unary("convert", i32(), {{"dtype", DType::f32}}));
  insert(unary("convert", i32(), {{"dtype", DType::f64}}));
  for (const double literal : {0.0, -0.0, 1.0}) {
    Graph g;
    const Value x = g.add_input(f32());
    g.set_outputs({op(g, "add", {x, g.add_literal(make_literal(DType::f32, literal), f32())})});
    insert(g);
  }
  for (const bool swapped : {false, true}) {
    Graph g;
    const Value x = g.add_input(f32()), y = g.add_input(f32());
    g.set_outputs({swapped ? op(g, "sub", {x, y}) : op(g, "sub", {y, x})});
    insert(g);
    g.set_outputs({g.outputs()[0], x});
    insert(g);
  }
  EXPECT_EQ(hashes.size(), count);
}

TEST(CanonicalHash, SmallConstantsEnterByContentsLargeOnesByType) {
  const auto with = [](const AnyArray& a, const AnyArray& b) {
    Graph g;
    const Value x = g.add_constant(a);
    const Value y = a.storage() == b.storage() ? x : g.add_constant(b);
    g.set_outputs({op(g, "add", {x, y})});
    return canonical_hash(g);
  };
  const AnyArray small1 = AnyArray::full<float>({16}, 1.0f), small2 = AnyArray::full<float>({16}, 2.0f);
  EXPECT_EQ(with(small1, small2), with(AnyArray::full<float>({16}, 1.0f), small2));
  EXPECT_NE(with(small1, small2), with(small2, small1));
  const AnyArray large1 = AnyArray::full<float>({17}, 1.0f), large2 = AnyArray::full<float>({17}, 2.0f);
  EXPECT_EQ(with(large1, large2), with(large2, large1));
  EXPECT_NE(with(large1, large1), with(large1, large2)) << "one parameter used twice is not two parameters";
}

TEST(CanonicalHash, EqualGraphsHashEqually) {
  std::set<GraphHash> hashes;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph c = canonicalize(random_graph(seed));
    EXPECT_EQ(canonical_hash(c), canonical_hash(parse(print(c))));
    hashes.insert(canonical_hash(c));
  }
  EXPECT_GT(hashes.size(), 250u);
}

TEST(CanonicalHash, IsTheSameInEveryProcess) {
  // The on-disk cache is keyed by this hash: a change requires a new version of the cache format.
  const GraphHash hash =
      canonical_hash(parse("calque 1\n"
                           "graph f(%0: f32[3], %1: f32[3]) {\n"
                           "  %2: f32[3] = mul %0 2.5:f32[3]\n"
                           "  %3: f32[] = reduce_sum[axes=[0]] %2\n"
                           "  return %3\n"
                           "}\n"));
  EXPECT_EQ(hash.low, 11622908582793640992u);
  EXPECT_EQ(hash.high, 13448535545244907933u);
}

TEST(Canonicalize, InPlaceIsTheSame) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph g = random_graph(seed, {.effects = true});
    const Graph copied = canonicalize(g);
    Graph moved = g;
    order_canonically(moved);
    moved.verify("order_canonically");
    ASSERT_EQ(moved, copied) << "seed " << seed;
    ASSERT_EQ(print(moved), print(copied)) << "seed " << seed;
    ASSERT_EQ(canonical_hash(moved), canonical_hash(copied)) << "seed " << seed;
    ASSERT_EQ(moved.num_equations(), copied.num_equations());
  }
}

}  // namespace
}  // namespace calque::test
