// Building and editing.
#include "calque/ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/build.h"

namespace calque::test {
namespace {

std::vector<std::string> names(const Graph& g) {
  std::vector<std::string> out;
  for (const Equation& e : g.equations()) out.push_back(e.primitive());
  return out;
}

using Names = std::vector<std::string>;

TEST(Graph, RecordsWhatIsAppended) {
  Graph g;
  const Value x = g.add_input(f32({3}));
  const Value two = g.add_literal(make_literal(DType::f32, 2.0), f32({3}));
  const Value c = g.add_constant(AnyArray::full<float>({3}, 5.0f));
  Equation& e = add(g, "mul", {x, two}, {}, {}, Location("a.cpp", 3));
  const Value y = op(g, "add", {e.result(), c});
  g.set_outputs({y});

  EXPECT_EQ(g.num_equations(), 2u);
  EXPECT_EQ(names(g), (Names{"mul", "add"}));
  EXPECT_EQ(g.type(y), f32({3}));
  EXPECT_EQ(g.kind(x), ValueKind::input);
  EXPECT_EQ(g.input_index(x), 0u);
  EXPECT_EQ(g.kind(two), ValueKind::literal);
  EXPECT_EQ(g.literal(two).as<float>(), 2.0f);
  EXPECT_EQ(g.kind(c), ValueKind::constant);
  EXPECT_EQ(g.constant(c).size(), 3);
  EXPECT_EQ(g.definition(e.result()), &e);
  EXPECT_EQ(g.definition(x), nullptr);
  EXPECT_EQ(e.location().line(), 3u);
  EXPECT_EQ(g.equations()[1].primitive(), "add");
  EXPECT_EQ(&g.equations().back(), g.definition(y));
  EXPECT_EQ(g.input_types(), std::vector<Type>{f32({3})});
  EXPECT_EQ(g.output_types(), std::vector<Type>{f32({3})});
  g.verify();
}

TEST(Graph, TypingErrorsCarryTheUsersLine) {
  Graph g;
  const Value x = g.add_input(f32({3})), y = g.add_input(f32({4})), z = g.add_input(i32({3}));
  const Location at("/home/me/model.cpp", 42);
  const std::string shapes = message_of<ShapeError>([&] { add(g, "add", {x, y}, {}, {}, at); });
  EXPECT_TRUE(shapes.starts_with("add: ")) << shapes;
  EXPECT_TRUE(shapes.ends_with(" (model.cpp:42)")) << shapes;
  const std::string dtypes = message_of<DTypeError>([&] { add(g, "add", {x, z}, {}, {}, at); });
  EXPECT_TRUE(dtypes.ends_with(" (model.cpp:42)")) << dtypes;
  const std::string arity = message_of<CompileError>([&] { add(g, "add", {x}, {}, {}, at); });
  EXPECT_EQ(arity, "add: expected 2 operands, got 1 (model.cpp:42)");
  const std::string graphs = message_of<CompileError>([&] { add(g, "add", {x, x}, {}, {Graph()}, at); });
  EXPECT_EQ(graphs, "add: expected 0 sub-graphs, got 1 (model.cpp:42)");
  EXPECT_FALSE(message_of<ShapeError>([&] { add(g, "add", {x, y}); }).ends_with(")"));
  EXPECT_EQ(g.num_equations(), 0u);
  EXPECT_EQ(g.num_values(), 3u);
}

TEST(Graph, RefusesOperandsOfNoGraph) {
  Graph g;
  const Value x = g.add_input(f32());
  EXPECT_EQ(message_of<CompileError>([&] { add(g, "add", {x, Value(17)}); }),
            "add: operand 1 is not a value of this graph");
  EXPECT_THROW(add(g, "neg", {Value()}), CompileError);
}

TEST(Graph, RefusesResultsThatCannotBeAddressed) {
  Graph g;
  const std::vector<int64_t> huge = {int64_t{1} << 40, int64_t{1} << 10};
  EXPECT_THROW(add(g, "iota", {}, {{"axis", int64_t{0}}, {"dtype", DType::f32}, {"shape", huge}}), ShapeError);
}

TEST(Graph, ManyOperandsAndResultsOutgrowTheInlineSpace) {
  Graph g;
  ValueList parts;
  for (int i = 0; i < 40; ++i) parts.push_back(g.add_input(f32({2})));
  const Value all = op(g, "concatenate", parts, {{"axis", int64_t{0}}});
  EXPECT_EQ(g.shape(all), (Shape{80}));
  g.set_outputs({all});
  g.verify();
}

TEST(Graph, CopiesAreDeepAndMovesLeaveAnEmptyGraph) {
  Graph g;
  const Value x = g.add_input(f32());
  g.set_outputs({op(g, "neg", {x})});
  Graph copy = g;
  op(copy, "abs", {x});
  EXPECT_EQ(g.num_equations(), 1u);
  EXPECT_EQ(copy.num_equations(), 2u);
  const Graph moved = std::move(copy);
  EXPECT_EQ(moved.num_equations(), 2u);
  EXPECT_EQ(copy.num_equations(), 0u);
  EXPECT_TRUE(copy.equations().empty());
  op(copy, "neg", {copy.add_input(f32())});
  copy.verify();
  copy = g;
  EXPECT_EQ(copy, g);
}

TEST(Graph, CopiesShareSubgraphsUntilOneIsEdited) {
  Graph body;
  body.set_outputs({op(body, "neg", {body.add_input(f32())})});
  Graph g;
  const Value x = g.add_input(f32());
  g.set_outputs({add(g, "call", {x}, {{"name", std::string("f")}}, {body}).result()});
  Graph copy = g;
  const auto subgraphs = [](const Graph& of) { return &of.definition(of.outputs()[0])->subgraphs(); };
  EXPECT_EQ(subgraphs(copy), subgraphs(g));
  for (Equation& e : copy.equations()) {
    Graph& edited = e.subgraphs()[0];
    edited.set_outputs({op(edited, "abs", {edited.outputs()[0]})});
    EXPECT_EQ(&edited, &e.subgraphs()[0]);
  }
  EXPECT_EQ((*subgraphs(copy))[0].num_equations(), 2u);
  EXPECT_EQ((*subgraphs(g))[0], body);
}

TEST(Graph, CopiesKeepTheirSubgraphsWhenAReferenceTakenBeforeIsEdited) {
  Graph body;
  body.set_outputs({op(body, "neg", {body.add_input(f32())})});
  Graph g;
  const Value x = g.add_input(f32());
  g.set_outputs({add(g, "call", {x}, {{"name", std::string("f")}}, {body}).result()});
  for (Equation& e : g.equations()) {
    for (Graph& inner : e.subgraphs()) {
      const Graph before = g, of_copy = before;
      inner.set_outputs({op(inner, "abs", {inner.outputs()[0]})});
      EXPECT_EQ(e.subgraphs()[0].num_equations(), 2u);
      for (const Graph* copy : {&before, &of_copy})
        EXPECT_EQ(copy->definition(copy->outputs()[0])->subgraphs()[0], body);
    }
  }
}

TEST(GraphEdit, InsertsBeforeAndAfter) {
  Graph g;
  const Value x = g.add_input(f32());
  Equation& first = add(g, "neg", {x}, {}, {}, Location("a.cpp", 3));
  g.set_outputs({op(g, "abs", {first.result()})});
  const Value before = g.insert_before(first, "exp", {x});
  const Value after = g.insert_after(first, "sin", {first.result()});
  EXPECT_EQ(names(g), (Names{"exp", "neg", "sin", "abs"}));
  EXPECT_EQ(g.definition(before)->location().line(), 3u);
  EXPECT_EQ(g.type(after), f32());
  const Equation& last = g.equations().back();
  g.insert_after(last, "cos", {x});
  EXPECT_EQ(names(g), (Names{"exp", "neg", "sin", "abs", "cos"}));
  g.verify();
}

TEST(GraphEdit, InsertionErrorsNameTheReason) {
  Graph g, other;
  const Value x = g.add_input(f32({2}));
  Equation& e = add(g, "neg", {x});
  EXPECT_THAT(message_of<CompileError>([&] { g.insert_before(e, "sine", {x}); }),
              testing::StartsWith("insert_before: there is no primitive sine (graph_test.cpp:"));
  EXPECT_THROW(g.insert_before(e, "add", {x, g.add_input(f32({3}))}), ShapeError);
  EXPECT_THROW(g.insert_before(e, "neg", {Value(99)}), CompileError);
  EXPECT_THAT(message_of<CompileError>([&] { other.insert_after(e, "neg", {x}); }),
              testing::StartsWith("insert_after: the equation is not of this graph, or was erased (graph_test.cpp:"));
}

TEST(GraphEdit, OperandsMustBeDefinedBeforeTheInsertionPoint) {
  Graph g;
  const Value x = g.add_input(f32());
  Equation& first = add(g, "neg", {x});
  Equation& second = add(g, "abs", {first.result()});
  EXPECT_THAT(
      message_of<CompileError>([&] { g.insert_before(first, "sin", {second.result()}); }),
      testing::HasSubstr("insert_before: operand 0 of sin is defined only after the insertion point, or is a value of "
                         "another graph (graph_test.cpp:"));
  EXPECT_THROW(g.insert_before(first, "sin", {first.result()}), CompileError);
  EXPECT_THROW(g.insert_after(first, "sin", {second.result()}), CompileError);
  const Value sine = g.insert_after(first, "sin", {first.result()});
  EXPECT_EQ(g.type(g.insert_before(second, "add", {sine, first.result()})), f32());
  EXPECT_THROW(g.insert_before(first, "sin", {sine}), CompileError);
  g.insert_after(second, "sin", {second.result()});
  g.erase(g.equations().back());
  const Value gone(static_cast<uint32_t>(g.num_values() - 1));
  EXPECT_THAT(message_of<CompileError>([&] { g.insert_after(second, "sin", {gone}); }),
              testing::HasSubstr("operand 0 of sin is a result of an equation that was erased"));
  g.verify();
}

TEST(GraphEdit, ManyInsertionsAtOnePointKeepTheirOrder) {
  Graph g;
  const Value x = g.add_input(f32());
  Value latest = add(g, "neg", {x}).result();
  Equation& last = add(g, "abs", {x});
  for (int i = 0; i < 200; ++i) latest = g.insert_before(last, "sin", {latest});
  Equation& first = g.equations().front();
  for (int i = 0; i < 200; ++i) g.insert_after(first, "cos", {first.result()});
  EXPECT_THROW(g.insert_before(g.equations()[150], "exp", {latest}), CompileError);
  EXPECT_NO_THROW(g.insert_after(last, "exp", {latest}));
  g.verify();
}

TEST(GraphEdit, ReplacementMustBeDefinedBeforeTheUses) {
  Graph a, b;
  const Value x = a.add_input(f32());
  const Value early = op(a, "neg", {x});
  const Value late = op(a, "abs", {early});
  a.set_outputs({late});
  EXPECT_THAT(message_of<CompileError>([&] { a.replace_all_uses(early, late); }),
              testing::HasSubstr("replace_all_uses: the second value is not defined yet where abs uses the first"));
  EXPECT_EQ(a.equations()[1].operand(0), early);
  Value foreign = b.add_input(f32());
  for (int i = 0; i < 9; ++i) foreign = op(b, "neg", {foreign});
  EXPECT_THAT(message_of<CompileError>([&] { a.replace_all_uses(early, foreign); }),
              testing::HasSubstr("the second value is not a value of this graph (graph_test.cpp:"));
  a.replace_all_uses(early, x);
  a.verify();
}

TEST(GraphEdit, ReplacesAllUsesOutputsIncluded) {
  Graph g;
  const Value x = g.add_input(f32()), y = g.add_input(f32()), n = g.add_input(i32());
  const Value sum = op(g, "add", {x, x});
  g.set_outputs({x, sum});
  g.replace_all_uses(x, y);
  EXPECT_EQ(g.equations()[0].operands(), (ValueList{y, y}));
  EXPECT_EQ(g.outputs(), (std::vector<Value>{y, sum}));
  EXPECT_THAT(message_of<CompileError>([&] { g.replace_all_uses(x, n); }),
              testing::StartsWith("replace_all_uses: types differ, got f32[] and i32[] (graph_test.cpp:"));
  EXPECT_THROW(g.replace_all_uses(x, Value(99)), CompileError);
}

TEST(GraphEdit, ErasesOnlyWhatIsUnused) {
  Graph g;
  const Value x = g.add_input(f32());
  Equation& used = add(g, "neg", {x});
  Equation& last = add(g, "abs", {used.result()}, {}, {}, Location("m.cpp", 8));
  g.set_outputs({last.result()});
  EXPECT_THAT(message_of<CompileError>([&] { g.erase(used); }),
              testing::StartsWith("erase: a result of neg is still used by abs (m.cpp:8) (graph_test.cpp:"));
  EXPECT_THAT(message_of<CompileError>([&] { g.erase(last); }),
              testing::StartsWith("erase: a result of abs is still an output (graph_test.cpp:"));
  g.set_outputs({x});
  g.erase(last);
  g.erase(used);
  EXPECT_TRUE(g.equations().empty());
  EXPECT_THROW(g.erase(used), CompileError);
  EXPECT_EQ(g.definition(used.result()), nullptr);
  g.verify();
}

TEST(GraphEdit, IterationSurvivesEdits) {
  Graph g;
  const Value x = g.add_input(f32());
  for (int i = 0; i < 10; ++i) op(g, i % 2 == 0 ? "neg" : "abs", {x});
  size_t seen = 0;
  for (Equation& e : g.equations()) {
    ++seen;
    if (e.primitive() == "neg") {
      g.insert_before(e, "exp", {x});
      g.erase(e);
    }
  }
  EXPECT_EQ(seen, 10u);
  EXPECT_EQ(g.num_equations(), 10u);
  EXPECT_EQ(names(g), (Names{"exp", "abs", "exp", "abs", "exp", "abs", "exp", "abs", "exp", "abs"}));
  g.verify();
}

TEST(GraphEdit, AppendCopyKeepsTypesWithoutInference) {
  Graph from, to;
  const Value a = from.add_input(f32({2})), b = to.add_input(f32({2}));
  const Equation& e =
      add(from, "broadcast", {a}, {{"axes", std::vector<int64_t>{1}}, {"shape", std::vector<int64_t>{3, 2}}});
  const Equation& copy = to.append_copy(from, e, {b});
  to.append_copy(to, copy, {b});
  to.set_outputs({copy.result()});
  to.verify("copying");
  EXPECT_EQ(to.type(to.equations().back().result()), f32({3, 2}));
}

// Equality.

Graph two_products(bool swapped) {
  Graph g;
  const Value x = g.add_input(f32()), y = g.add_input(f32());
  Value p, q;
  if (swapped) {
    q = op(g, "mul", {y, y});
    p = op(g, "mul", {x, x});
  } else {
    p = op(g, "mul", {x, x});
    q = op(g, "mul", {y, y});
  }
  g.set_outputs({op(g, "add", {p, q})});
  return g;
}

TEST(GraphEquality, IgnoresNamesLocationsAndNumbers) {
  Graph a = two_products(false);
  Graph b;
  b.set_name("other");
  const Value x = b.add_input(f32());
  b.add_literal(make_literal(DType::f32, 1.0), f32());  // shifts the numbers
  const Value y = b.add_input(f32());
  const Value p = add(b, "mul", {x, x}, {}, {}, Location("b.cpp", 1)).result();
  const Value q = op(b, "mul", {y, y});
  b.set_outputs({op(b, "add", {p, q})});
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a == two_products(true));
}

TEST(GraphEquality, SeesEveryDifference) {
  const auto make = [](double literal, const char* primitive, const char* mode, float constant) {
    Graph g;
    const Value x = g.add_input(f32({2}));
    const Value y = op(g, primitive, {x, g.add_literal(make_literal(DType::f32, literal), f32({2}))});
    const Value z = op(g, "add", {y, g.add_constant(AnyArray::full<float>({2}, constant))});
    add(g, "debug_print", {z}, {{"format", std::string(mode)}});
    g.set_outputs({z});
    return g;
  };
  const Graph g = make(1.0, "mul", "{}", 3.0f);
  EXPECT_EQ(g, make(1.0, "mul", "{}", 3.0f));
  EXPECT_FALSE(g == make(2.0, "mul", "{}", 3.0f));
  EXPECT_FALSE(g == make(1.0, "add", "{}", 3.0f));
  EXPECT_FALSE(g == make(1.0, "mul", "{} ", 3.0f));
  EXPECT_FALSE(g == make(1.0, "mul", "{}", 4.0f));
  EXPECT_FALSE(make(0.0, "mul", "{}", 3.0f) == make(-0.0, "mul", "{}", 3.0f));
  Graph fewer = g;
  fewer.set_outputs({});
  EXPECT_FALSE(g == fewer);
}

TEST(GraphEquality, OneConstantUsedTwiceIsNotTwoConstants) {
  const auto make = [](bool shared) {
    Graph g;
    const AnyArray array = AnyArray::full<float>({2}, 1.0f);
    const Value a = g.add_constant(array);
    const Value b = shared ? a : g.add_constant(array);
    g.set_outputs({op(g, "add", {a, b})});
    return g;
  };
  EXPECT_EQ(make(true), make(true));
  EXPECT_EQ(make(false), make(false));
  EXPECT_FALSE(make(true) == make(false));
  EXPECT_FALSE(make(false) == make(true));
}

}  // namespace
}  // namespace calque::test
