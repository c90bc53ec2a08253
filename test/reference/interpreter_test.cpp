// The interpreter and its hook: same results as the evaluator, every equation visited, errors reported.
#include "calque/ir/interpreter.h"

#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/random/random_graph.h"
#include "support/same_arrays.h"

namespace calque {
namespace {

struct Recorder : Interpreter {
  std::vector<std::string> seen;
  std::vector<AnyArray> equation(const Equation& e, const std::vector<AnyArray>& operands) override {
    seen.push_back(e.primitive());
    return Interpreter::equation(e, operands);
  }
};

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no exception";
}

TEST(Interpreter, AgreesWithTheEvaluatorOnRandomGraphs) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph g = test::random_graph(seed);
    const auto inputs = test::random_inputs(g, seed);
    ASSERT_EQ(test::difference(Interpreter().run(g, inputs), reference::evaluate(g, inputs)), "") << g;
  }
}

TEST(Interpreter, HookSeesEveryEquationThatRuns) {
  const Graph g = parse(
      "calque 1\ngraph (%0: f32[]) {\n"
      "%1 = mul %0 2:f32[]\n"
      "%2 = scan[carry=1, consts=0, length=2, reverse=false, unroll=1] %1"
      " { (%0: f32[]) { %1 = neg %0 return %1 } }\n"
      "%3 = add %2 @c0 return %3 }\nconstant @c0: f32[] = [1]\n");
  Recorder recorder;
  const auto results = recorder.run(g, {AnyArray::full<float>({}, 3.0f)});
  EXPECT_EQ(recorder.seen, (std::vector<std::string>{"mul", "scan", "neg", "neg", "add"}));
  EXPECT_EQ(results[0].data_as<float>()[0], 7.0f);
}

TEST(Interpreter, HookMayReplaceAnEquation) {
  struct Doubling : Interpreter {
    std::vector<AnyArray> equation(const Equation& e, const std::vector<AnyArray>& operands) override {
      if (e.primitive() != "neg") return Interpreter::equation(e, operands);
      return {AnyArray::full<float>({}, 2 * operands[0].data_as<float>()[0])};
    }
  };
  const Graph g = parse("calque 1\ngraph (%0: f32[]) { %1 = neg %0 %2 = add %1 %0 return %2 }");
  EXPECT_EQ(Doubling().run(g, {AnyArray::full<float>({}, 5.0f)})[0].data_as<float>()[0], 15.0f);
}

TEST(Interpreter, ErrorsNameWhatWasExpected) {
  struct Silent : Interpreter {
    std::vector<AnyArray> equation(const Equation&, const std::vector<AnyArray>&) override { return {}; }
  };
  struct Wrong : Interpreter {
    std::vector<AnyArray> equation(const Equation&, const std::vector<AnyArray>&) override {
      return {AnyArray::full<int32_t>({}, 1)};
    }
  };
  const Graph g = parse("calque 1\ngraph (%0: f32[]) { %1 = neg %0 loc(\"m.cpp\":4:2) return %1 }");
  const AnyArray x = AnyArray::full<float>({}, 5.0f);
  EXPECT_EQ(message_of<CompileError>([&] { Silent().run(g, {x}); }),
            "interpreter: neg has 1 results, the hook gave 0 (m.cpp:4)");
  EXPECT_EQ(message_of<CompileError>([&] { Wrong().run(g, {x}); }),
            "interpreter: result 0 of neg is f32[], the hook gave i32[] (m.cpp:4)");
  const Location at("m.cpp", 9);
  EXPECT_EQ(message_of<ShapeError>([&] { Interpreter().run(g, {}, at); }),
            "interpreter: expects 1 inputs, got 0 (m.cpp:9)");
  EXPECT_TRUE(message_of<ShapeError>([&] {
                Interpreter().run(g, {});
              }).starts_with("interpreter: expects 1 inputs, got 0 (interpreter_test.cpp:"));
  EXPECT_EQ(message_of<DTypeError>([&] { Interpreter().run(g, {AnyArray::full<int32_t>({}, 1)}, at); }),
            "interpreter: input 0 expects f32[], got i32[] (m.cpp:9)");
  EXPECT_EQ(message_of<ShapeError>([&] { Interpreter().run(g, {AnyArray::full<float>({2}, 1)}, at); }),
            "interpreter: input 0 expects f32[], got f32[2] (m.cpp:9)");
}

TEST(Interpreter, ConstantsWithoutElementsAreAnError) {
  const Graph g = parse(
      "calque 1\ngraph () { %0 = neg @c0 return %0 }\n"
      "constant @c0: f32[2] = xxh3 \"0123456789abcdef0123456789abcdef\"\n");
  const std::string want = "array: its elements are not here, the text that it was read from holds only their hash";
  EXPECT_EQ(message_of<Error>([&] { Interpreter().run(g, {}); }), want);
  EXPECT_EQ(message_of<Error>([&] { reference::evaluate(g, {}); }), want);
}

TEST(Interpreter, CanBeUsedAgainAfterAnException) {
  struct Throwing : Interpreter {
    bool armed = true;
    std::vector<AnyArray> equation(const Equation& e, const std::vector<AnyArray>& operands) override {
      if (armed && e.primitive() == "neg") throw std::runtime_error("stop");
      return Interpreter::equation(e, operands);
    }
  };
  const Graph g = parse(
      "calque 1\ngraph (%0: f32[]) { %1 = call[name=\"f\"] %0 { (%0: f32[]) { %1 = neg %0 return %1 } } return %1 }");
  Throwing interpreter;
  const AnyArray x = AnyArray::full<float>({}, 5.0f);
  EXPECT_THROW(interpreter.run(g, {x}), std::runtime_error);
  interpreter.armed = false;
  EXPECT_EQ(interpreter.run(g, {x})[0].data_as<float>()[0], -5.0f);
}

}  // namespace
}  // namespace calque
