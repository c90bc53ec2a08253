// Each rule of the IR, broken on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/graph/graph_access.h"

namespace calque::test {
namespace {

using detail::GraphAccess;
using testing::HasSubstr;

struct Broken {
  Graph g;
  Value x, lit, sum, out;
  Broken() {
    x = g.add_input(f32({3}));
    lit = g.add_literal(make_literal(DType::f32, 2.0), f32({3}));
    sum = add(g, "add", {x, lit}, {}, {}, Location("model.cpp", 7)).result();
    out = op(g, "neg", {sum});
    g.set_outputs({out});
  }
  std::string error() const {
    return message_of<CompileError>([this] { g.verify("fuse"); });
  }
  Equation& first() { return *g.definition(sum); }
};

TEST(Verify, AcceptsWhatTheBuilderMakes) {
  const Broken b;
  EXPECT_NO_THROW(b.g.verify());
}

TEST(Verify, NamesThePassTheEquationTheRuleAndTheLine) {
  Broken b;
  GraphAccess::mutable_type(b.g, b.sum) = f32({4});
  EXPECT_EQ(b.error(),
            "verify after fuse: `%1: f32[4] = add %0 2:f32[3]`: result 0 is inferred as f32[3] but recorded as f32[4] "
            "(model.cpp:7)");
}

TEST(Verify, UseBeforeDefinition) {
  Broken b;
  GraphAccess::mutable_operands(b.first())[0] = b.out;
  EXPECT_THAT(b.error(), HasSubstr("operand 0 is used before it is defined"));
}

TEST(Verify, UseOfAnErasedResult) {
  Broken b;
  b.g.set_outputs({b.x});
  b.g.erase(*b.g.definition(b.out));
  b.g.set_outputs({b.out});
  EXPECT_THAT(b.error(), HasSubstr("output 0 is used before it is defined"));
}

TEST(Verify, ValuesOfAnotherGraph) {
  Broken b;
  GraphAccess::mutable_operands(b.first())[1] = Value(1000);
  EXPECT_THAT(b.error(), HasSubstr("operand 1 is not a value of this graph"));
  Broken c;
  c.g.set_outputs({Value()});
  EXPECT_THAT(c.error(), HasSubstr("output 0 is not a value of this graph"));
}

TEST(Verify, OperandCount) {
  Broken b;
  GraphAccess::mutable_operands(b.first()).push_back(b.x);
  EXPECT_THAT(b.error(), HasSubstr("does not take 3 operands"));
}

TEST(Verify, SubgraphCount) {
  Broken b;
  GraphAccess::mutable_subgraphs(b.first()).emplace_back();
  EXPECT_THAT(b.error(), HasSubstr("does not take 1 sub-graphs"));
}

TEST(Verify, OperandTypes) {
  Broken b;
  GraphAccess::mutable_type(b.g, b.lit) = i32({3});
  EXPECT_THAT(b.error(), HasSubstr("add: "));
}

TEST(Verify, Attributes) {
  Broken b;
  GraphAccess::mutable_attributes(b.first()).set("axis", int64_t{1});
  EXPECT_THAT(b.error(), HasSubstr("axis"));
  Graph g;
  Equation& e = add(g, "iota", {}, {{"axis", int64_t{0}}, {"dtype", DType::i32}, {"shape", std::vector<int64_t>{3}}});
  GraphAccess::mutable_attributes(e) = Attributes{{"axis", int64_t{0}}};
  EXPECT_THROW(g.verify(), CompileError);
}

TEST(Verify, ResultCount) {
  Broken b;
  GraphAccess::mutable_results(b.first()).clear();
  EXPECT_THAT(b.error(), HasSubstr("expected 1 results, got 0"));
}

TEST(Verify, ResultDefinedTwice) {
  Broken b;
  GraphAccess::mutable_results(*b.g.definition(b.out))[0] = b.sum;
  EXPECT_THAT(b.error(), HasSubstr("result 0 is defined twice"));
}

TEST(Verify, ResultRecordedElsewhere) {
  Broken b;
  GraphAccess::mutable_table_index(b.g, b.sum) = 1;
  EXPECT_THAT(b.error(), HasSubstr("result 0 is not recorded as such"));
}

TEST(Verify, Inputs) {
  Broken twice;
  GraphAccess::mutable_inputs(twice.g).push_back(twice.x);
  EXPECT_THAT(twice.error(), HasSubstr("input 1 is listed twice"));
  Broken kind;
  GraphAccess::mutable_inputs(kind.g).push_back(kind.sum);
  EXPECT_THAT(kind.error(), HasSubstr("input 1 is not recorded as such"));
  Broken foreign;
  GraphAccess::mutable_inputs(foreign.g).push_back(Value(77));
  EXPECT_THAT(foreign.error(), HasSubstr("input 1 is not a value of this graph"));
}

TEST(Verify, LiteralBits) {
  Broken b;
  GraphAccess::mutable_literal(b.g, b.lit).bytes[5] = 1;
  EXPECT_THAT(b.error(), HasSubstr("operand 1 is a literal with bits past its element"));
  Graph g;
  Literal two;
  two.bytes[0] = 2;
  g.set_outputs({g.add_literal(two, {DType::bool_, {}})});
  EXPECT_THAT(message_of<CompileError>([&] { g.verify(); }), HasSubstr("neither true nor false"));
}

TEST(Verify, Constants) {
  Graph empty;
  empty.set_outputs({empty.add_constant(AnyArray())});
  EXPECT_THAT(message_of<CompileError>([&] { empty.verify(); }), HasSubstr("a constant without an array"));
  Graph small;
  small.set_outputs({small.add_constant(AnyArray(f32({100}), detail::Storage::allocate(8)))});
  EXPECT_THAT(message_of<CompileError>([&] { small.verify(); }), HasSubstr("fewer bytes than its type needs"));
  Graph other;
  const Value c = other.add_constant(AnyArray::full<float>({2}, 1.0f));
  other.set_outputs({c});
  GraphAccess::mutable_type(other, c) = i32({2});
  EXPECT_THAT(message_of<CompileError>([&] { other.verify(); }), HasSubstr("another type than its array"));
}

TEST(Verify, SubgraphsAreVerifiedAndNamed) {
  Graph body;
  const Value x = body.add_input(f32());
  const Value y = op(body, "neg", {x});
  body.set_outputs({y});
  Graph g;
  const Value p = g.add_input({DType::bool_, {}}), v = g.add_input(f32());
  Equation& e = add(g, "cond", {p, v}, {}, {body, body}, Location("m.cpp", 5));
  g.set_outputs({e.result()});
  EXPECT_NO_THROW(g.verify());
  GraphAccess::mutable_operands(*GraphAccess::mutable_subgraphs(e)[1].definition(y))[0] = y;
  EXPECT_EQ(message_of<CompileError>([&] { g.verify(); }),
            "verify: in sub-graph 1 of cond (m.cpp:5): `%1: f32[] = neg %1`: operand 0 is used before it is defined");
}

TEST(Verify, SubgraphSignatures) {
  Graph body;
  body.set_outputs({body.add_input(f32())});
  Graph g;
  const Value p = g.add_input({DType::bool_, {}}), v = g.add_input(f32());
  Equation& e = add(g, "cond", {p, v}, {}, {body, body});
  g.set_outputs({e.result()});
  GraphAccess::mutable_subgraphs(e)[0].add_input(f32());
  EXPECT_THAT(message_of<CompileError>([&] { g.verify(); }), HasSubstr("cond: "));
}

}  // namespace
}  // namespace calque::test
