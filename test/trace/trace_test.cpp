// Builders, captures, leaked tracers, canonical order.
#include <chrono>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/control.h"
#include "calque/elementwise.h"
#include "calque/jit.h"

#include "ir/log.h"
#include "support/trace_eval.h"
#include "trace/builder.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;
using detail::literal_operand;
using testing::HasSubstr;

const Type kScalar{DType::f32, {}};

TEST(Trace, RecordsEquationsAtTheUsersLine) {
  const auto r = trace({kScalar}, [](std::span<const Handle> in) { return Handles{ops::sin(in[0], kHere)}; });
  ASSERT_EQ(r.graph.num_equations(), 1u);
  const Equation& e = r.graph.equations().front();
  EXPECT_EQ(e.primitive(), "sin");
  EXPECT_EQ(to_string(e.location()), "model.cpp:42");
  EXPECT_TRUE(r.captures.empty());
}

TEST(Trace, OrderDoesNotDependOnTheOrderOfRecording) {
  const auto left_first = trace({kScalar, kScalar}, [](std::span<const Handle> in) {
    const Handle a = ops::sin(in[0], kHere), b = ops::cos(in[1], kHere);
    return Handles{ops::add(a, b, kHere)};
  });
  const auto right_first = trace({kScalar, kScalar}, [](std::span<const Handle> in) {
    const Handle b = ops::cos(in[1], kHere);
    ops::exp(b, kHere);  // unused
    const Handle a = ops::sin(in[0], kHere);
    return Handles{ops::add(a, b, kHere)};
  });
  EXPECT_EQ(print(left_first.graph), print(right_first.graph));
  EXPECT_EQ(left_first.graph.num_equations(), 3u);
}

TEST(Trace, CapturesEnterEveryLevelBetween) {
  const auto outer = trace({kScalar, kScalar}, [](std::span<const Handle> x) {
    std::vector<Handle> results;
    const auto middle = trace({kScalar}, [&](std::span<const Handle> y) {
      const auto inner = trace({kScalar}, [&](std::span<const Handle> z) {
        return Handles{ops::add(ops::multiply(x[1], y[0], kHere), ops::subtract(z[0], x[0], kHere), kHere)};
      });
      // In canonical order: x[1] and y[0] of the left operand, then x[0].
      EXPECT_EQ(inner.captures.size(), 3u);
      EXPECT_EQ(inner.captures[0].value, x[1].value);
      EXPECT_EQ(inner.captures[1].trace, y[0].trace);
      EXPECT_EQ(inner.captures[2].value, x[0].value);
      EXPECT_EQ(inner.graph.inputs().size(), 4u);
      Handles all{y[0]};
      all.insert(all.end(), inner.captures.begin(), inner.captures.end());
      return detail::emit_graph(inner.graph, all);
    });
    EXPECT_EQ(middle.captures.size(), 2u);
    EXPECT_EQ(middle.captures[0].trace, x[0].trace);
    Handles all{x[0]};
    all.insert(all.end(), middle.captures.begin(), middle.captures.end());
    return detail::emit_graph(middle.graph, all);
  });
  EXPECT_TRUE(outer.captures.empty());
  // x1 * x0 + (x0 - x0)
  EXPECT_EQ(elements<float>(reference::evaluate(outer.graph, std::vector{scalar(3.f), scalar(5.f)})[0])[0], 15.f);
}

TEST(Trace, CapturesThatNothingUsesAreNoInputs) {
  trace({kScalar, kScalar}, [](std::span<const Handle> x) {
    const auto inner = trace({kScalar}, [&](std::span<const Handle> y) {
      ops::sin(x[0], kHere);
      return Handles{ops::add(y[0], x[1], kHere)};
    });
    EXPECT_EQ(inner.captures.size(), 1u);
    EXPECT_EQ(inner.captures[0].value, x[1].value);
    EXPECT_EQ(inner.graph.inputs().size(), 2u);
    return Handles{};
  });
}

TEST(Trace, LiteralsAndConstantsOfAnEnclosingTraceAreNoCaptures) {
  const AnyArray w = vec<float>({1, 2, 3});
  trace({kScalar}, [&](std::span<const Handle>) {
    const Handle two = detail::lift(literal_operand(2.0), DType::f32, kHere), c = detail::constant(w, kHere);
    const auto inner = trace({{DType::f32, Shape{3}}}, [&](std::span<const Handle> y) {
      return Handles{ops::multiply(ops::add(y[0], c, kHere), two, kHere)};
    });
    EXPECT_TRUE(inner.captures.empty());
    EXPECT_EQ(elements<float>(reference::evaluate(inner.graph, std::vector{w})[0]), (std::vector<float>{4, 8, 12}));
    return Handles{};
  });
}

TEST(Trace, OneArrayIsOneConstant) {
  const AnyArray w = vec<float>({1, 2, 3});
  const auto r = trace({}, [&](std::span<const Handle>) {
    const Handle a = detail::constant(w, kHere), b = detail::constant(w, kHere);
    EXPECT_EQ(a.value, b.value);
    return Handles{ops::add(a, b, kHere)};
  });
  EXPECT_EQ(elements<float>(reference::evaluate(r.graph, {})[0]), (std::vector<float>{2, 4, 6}));
}

TEST(Trace, ArraysOfOneStorageAndSeveralShapesStayApart) {
  const AnyArray w = vec<float>({1, 2, 3, 4});
  const AnyArray m({DType::f32, Shape{2, 2}}, w.storage());
  const auto r = trace(
      {}, [&](std::span<const Handle>) { return Handles{detail::constant(w, kHere), detail::constant(m, kHere)}; });
  EXPECT_EQ(r.graph.output_types()[0].shape, Shape{4});
  EXPECT_EQ(r.graph.output_types()[1].shape, (Shape{2, 2}));
}

TEST(Trace, ALeakedTracerIsAnError) {
  Handle leaked;
  trace({kScalar}, [&](std::span<const Handle> in) {
    leaked = ops::sin(in[0], kHere);
    return Handles{};
  });
  EXPECT_FALSE(detail::tracing());
  EXPECT_THAT(words_of<LeakedTracerError>({kScalar}, [&](const auto& x) { ops::add(x[0], leaked, kHere); }),
              testing::StartsWith("tracer: used after its trace ended"));
  EXPECT_THAT(words_of<LeakedTracerError>({kScalar}, [&](const auto& x) { ops::add(x[0], leaked, kHere); }),
              HasSubstr("(model.cpp:42)"));
  EXPECT_THROW(detail::type_of(leaked, kHere), LeakedTracerError);
  EXPECT_THROW(ops::sin(leaked, kHere), LeakedTracerError);
}

TEST(Trace, ALeakIsSeenInATraceOfTheSameShape) {
  Handle leaked;
  for (int round = 0; round < 2; ++round) {
    const auto use = [&](const auto& x) {
      if (round == 0) {
        leaked = x[0].handle();
      } else {
        ops::sin(leaked, kHere);
      }
    };
    EXPECT_THAT(words_of<LeakedTracerError>({kScalar}, use),
                testing::StartsWith(round == 0 ? "no error" : "tracer: used after"));
  }
}

TEST(Trace, ADefaultConstructedTracerIsAnError) {
  EXPECT_THAT(words_of<LeakedTracerError>({kScalar}, [&](const auto& x) { ops::add(x[0], Handle{}, kHere); }),
              testing::StrEq("tracer: used without a value (model.cpp:42)"));
}

TEST(Trace, AnExceptionOfTheBodyLeavesTheEnclosingTraceAsItWas) {
  const auto r = trace({kScalar}, [](std::span<const Handle> x) {
    EXPECT_THROW(detail::trace_graph("inner", std::vector{kScalar},
                                     [](std::span<const Handle>, Handles&) { throw std::runtime_error("mine"); }),
                 std::runtime_error);
    return Handles{ops::sin(x[0], kHere)};
  });
  EXPECT_EQ(r.graph.num_equations(), 1u);
  EXPECT_FALSE(detail::tracing());
}

TEST(Trace, OperationsWithoutATraceAreAnError) {
  const AnyArray w = vec<float>({1});
  EXPECT_THROW(ops::sin(w, kHere), LeakedTracerError);
  try {
    ops::zeros(DType::f32, Shape{3}, kHere);
    FAIL();
  } catch (const LeakedTracerError& e) {
    EXPECT_THAT(e.what(), HasSubstr("Array<float>::zeros"));
    EXPECT_THAT(e.what(), HasSubstr("(model.cpp:42)"));
  }
}

TEST(Trace, OtherThreadsHaveTheirOwnTraces) {
  trace({kScalar}, [](std::span<const Handle> x) {
    std::thread([&] {
      EXPECT_FALSE(detail::tracing());
      EXPECT_THROW(ops::sin(x[0], kHere), LeakedTracerError);
    }).join();
    return Handles{};
  });
}

TEST(Location, OfAHeaderOfEigenIsNearTheUsersLast) {
  const Location eigen("/usr/include/eigen3/Eigen/src/Core/CoreEvaluators.h", 99);
  const auto r = trace({kScalar}, [&](std::span<const Handle> x) {
    const Handle a = ops::sin(x[0], kHere);
    const Handle b = ops::cos(a, eigen);
    return Handles{ops::exp(b, Location())};
  });
  for (const Equation& e : r.graph.equations()) EXPECT_EQ(to_string(e.location()), "model.cpp:42");
  EXPECT_EQ(r.graph.equations()[0].location().column(), 7u);
  EXPECT_EQ(r.graph.equations()[1].location().column(), 0u) << "near, not at";
}

TEST(Location, OfAUsersHeaderIsTheUsersWhereverItIsInstalled) {
  for (const char* file : {"/usr/include/acme/model.h", "/usr/lib/acme/model.h", "/home/ann/Eigen/model.h"}) {
    const auto r = trace({kScalar}, [&](std::span<const Handle> x) {
      const Handle a = ops::sin(x[0], kHere);
      return Handles{ops::cos(a, Location(file, 7))};
    });
    EXPECT_EQ(to_string(r.graph.equations()[1].location()), "model.h:7") << file;
  }
  for (const char* file : {"/usr/include/c++/12/complex", "/usr/lib/gcc/x86_64-linux-gnu/12/include/x.h",
                           "/opt/include/calque/tracer.h", "include/calque/tracer.h"}) {
    const auto r = trace({kScalar}, [&](std::span<const Handle> x) {
      const Handle a = ops::sin(x[0], kHere);
      return Handles{ops::cos(a, Location(file, 7))};
    });
    EXPECT_EQ(to_string(r.graph.equations()[1].location()), "model.cpp:42") << file;
  }
}

TEST(InsteadOfEigen, NamesTheFunctionsOfTheHeaderThatBranches) {
  const auto remedy = [&](const std::string& header, bool operator_of_the_library = false) {
    std::string found;
    trace({kScalar}, [&](std::span<const Handle> x) {
      ops::sin(x[0], kHere);
      ops::cos(x[0], Location(intern_file("/usr/include/eigen3/Eigen/src/" + header), 99));
      if (operator_of_the_library) ops::cos(x[0], Location("/opt/include/calque/tracer.h", 180));
      found = detail::instead_of_eigen();
      return Handles{x[0]};
    });
    return found;
  };
  using testing::AllOf, testing::HasSubstr, testing::Not;
  EXPECT_THAT(remedy("Geometry/Quaternion.h"), AllOf(HasSubstr("slerp"), HasSubstr("conjugate"), HasSubstr("matrix")));
  EXPECT_THAT(remedy("Core/Visitor.h"), AllOf(HasSubstr("argmax"), HasSubstr("maxCoeff")));
  EXPECT_THAT(remedy("Eigenvalues/EigenSolver.h"), AllOf(HasSubstr("linalg::eigh"), HasSubstr("linalg::eig(a)")));
  EXPECT_THAT(remedy("Householder/Householder.h", true), AllOf(HasSubstr("linalg::qr"), HasSubstr("linalg::lstsq")))
      << "&& of two comparisons has a line of this library";
  EXPECT_THAT(remedy("Cholesky/LLT.h"), AllOf(HasSubstr("linalg::cholesky"), HasSubstr("linalg::cho_solve")));
  EXPECT_THAT(remedy("LU/FullPivLU.h"), AllOf(HasSubstr("linalg::inv"), HasSubstr("linalg::solve")));
}

TEST(Location, OfAnEarlierTraceIsNotNear) {
  const Location eigen("/usr/include/eigen3/Eigen/src/Core/CoreEvaluators.h", 99);
  trace({kScalar}, [&](std::span<const Handle> x) { return Handles{ops::sin(x[0], kHere)}; });
  const auto r = trace({kScalar}, [&](std::span<const Handle> x) { return Handles{ops::sin(x[0], eigen)}; });
  EXPECT_EQ(to_string(r.graph.equations().front().location()), "CoreEvaluators.h:99");
}

TEST(EmitGraph, ChecksTheInputs) {
  const auto r = trace({kScalar}, [](std::span<const Handle> x) { return Handles{ops::sin(x[0], kHere)}; });
  EXPECT_THAT(words_of<ShapeError>({{DType::f32, Shape{2}}},
                                   [&](const auto& x) {
                                     const Handle in[] = {x[0].handle()};
                                     detail::emit_graph(r.graph, in);
                                   }),
              testing::StrEq("test: input 0 is f32[], got f32[2]"));
  EXPECT_THAT(words_of<DTypeError>({{DType::f64, {}}},
                                   [&](const auto& x) {
                                     const Handle in[] = {x[0].handle()};
                                     detail::emit_graph(r.graph, in);
                                   }),
              testing::StrEq("test: input 0 is f32[], got f64[]"));
  EXPECT_THAT(words_of<ShapeError>({kScalar}, [&](const auto&) { detail::emit_graph(r.graph, {}); }),
              testing::StrEq("test: expected 1 inputs, got 0"));
}

TEST(Describe, NamesTypeAndValue) {
  trace({{DType::f32, Shape{3, 4}}}, [](std::span<const Handle> x) {
    EXPECT_EQ(detail::describe(x[0]), "f32[3,4] %" + std::to_string(x[0].value));
    return Handles{};
  });
  EXPECT_EQ(detail::describe(Handle{}), "tracer without a value");
}

TEST(Concrete, NamesTheLineThatMadeTheValue) {
  trace({kScalar}, [](std::span<const Handle> x) {
    const Handle positive = ops::greater(x[0], literal_operand(0), kHere);
    try {
      detail::concrete(positive, "a bool", {});
      ADD_FAILURE();
    } catch (const ConcretizationError& e) {
      EXPECT_STREQ(
          e.what(),
          "concretization: a bool was wanted of a tracer, which has no value while tracing, got bool[] made by "
          ">; use where, cond or while_loop, pass what decides it as static_arg, or let branches follow the data: "
          "cq::jit(f, {.branches = cq::branches::trace}) (model.cpp:42)");
    }
    return Handles{};
  });
}

TEST(Concrete, NamesTheArgumentsPath) {
  const std::string paths[] = {"argument 0 .w[1]"};
  detail::TraceOptions options;
  options.paths = paths;
  const Type types[] = {kScalar};
  const auto body = [](std::span<const Handle> x, Handles&) {
    try {
      detail::concrete(x[0], "an integer", kHere);
      ADD_FAILURE();
    } catch (const ConcretizationError& e) {
      EXPECT_THAT(e.what(), HasSubstr("got f32[] (argument 0 .w[1]); keep it a tracer"));
    }
  };
  detail::trace_graph("f", types, body, options);
}

TEST(Eager, TracersHaveValues) {
  const AnyArray inputs[] = {vec<float>({1, 2})};
  detail::TraceOptions options;
  options.eager = true;
  options.values = inputs;
  const Type types[] = {inputs[0].type()};
  const auto r = detail::trace_graph(
      "f", types,
      [](std::span<const Handle> x, Handles& out) {
        const Handle y = ops::multiply(x[0], literal_operand(3.0), kHere);
        EXPECT_EQ(elements<float>(detail::concrete(y, "values", kHere)), (std::vector<float>{3, 6}));
        EXPECT_THAT(detail::describe(y), testing::MatchesRegex("f32\\[2\\] %[0-9]+ = .*3.*6.*"));
        out.push_back(y);
      },
      options);
  EXPECT_EQ(elements<float>(r.values[0]), (std::vector<float>{3, 6}));
  EXPECT_EQ(elements<float>(reference::evaluate(r.graph, inputs)[0]), (std::vector<float>{3, 6}));
}

TEST(Eager, AnOrdinaryTraceInsideHasNoValues) {
  const AnyArray inputs[] = {scalar(1.f)};
  detail::TraceOptions options;
  options.eager = true;
  options.values = inputs;
  const Type types[] = {kScalar};
  detail::trace_graph(
      "f", types,
      [](std::span<const Handle> x, Handles&) {
        const auto inner = trace({kScalar}, [&](std::span<const Handle> y) {
          EXPECT_THROW(detail::concrete(y[0], "a bool", kHere), ConcretizationError);
          EXPECT_NO_THROW(detail::concrete(x[0], "a bool", kHere));
          return Handles{ops::add(x[0], y[0], kHere)};
        });
        EXPECT_EQ(inner.captures.size(), 1u);
      },
      options);
}

/// What is written to standard error; nothing may go to standard output.
template <class Call>
std::string logged(const Call& call) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  call();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  return testing::internal::GetCapturedStderr();
}

constexpr int kMany = 100'050;

Tracer<float> many_sums(Tracer<float> y) {
  for (int i = 0; i < kMany; ++i) y = y + y;
  return y;
}

TEST(Trace, WarnsOnceOfVeryManyEquations) {
  const Type types[] = {kScalar};
  const auto start = std::chrono::steady_clock::now();
  const std::string text = logged([&] {
    detail::trace_graph("many", types, [](std::span<const Handle> x, Handles& out) {
      out.push_back(many_sums(Tracer<float>(x[0])).handle());
    });
  });
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  EXPECT_THAT(text,
              testing::MatchesRegex(
                  "calque: warning: many: the trace has recorded more than 100000 equations "
                  "\\(trace_test.cpp:[0-9]+\\); a matrix of tracers or a long loop in C\\+\\+ records one equation "
                  "per scalar operation: use matmul and array operations, fori_loop or scan\n"));
  std::cout << "tracing one scalar operation, canonical order included: " << time.count() / kMany << " ns\n";
}

TEST(Trace, WarningNamesTheFunctionOrItsLine) {
  const auto x = spec<float>({});
  EXPECT_THAT(logged([&] { jit(many_sums, {.name = "sums"}).trace(x); }), HasSubstr("warning: sums: the trace has"));
  EXPECT_THAT(logged([&] { jit([](auto v) { return many_sums(v); }).trace(x); }),
              testing::ContainsRegex("warning: jit \\(trace_test.cpp:[0-9]+\\): the trace has recorded"));
}

TEST(Trace, WarningAdvisesNoLoopWhereThereIsOne) {
  const auto in_loop = [](auto v) { return fori_loop(0, 3, [](auto, auto c) { return many_sums(c); }, v); };
  const auto beside_loop = [](auto v) { return many_sums(fori_loop(0, 3, [](auto, auto c) { return c * 2.0f; }, v)); };
  for (const std::string& text : {logged([&] { jit(in_loop).trace(spec<float>({})); }),
                                  logged([&] { jit(beside_loop).trace(spec<float>({})); })}) {
    EXPECT_THAT(text, HasSubstr("a matrix of tracers records one equation per scalar operation: use matmul"));
    EXPECT_EQ(text.find("fori_loop"), std::string::npos) << text;
  }
}

TEST(Trace, WarningsObeyTheLogLevel) {
  set_log("error");
  EXPECT_EQ(logged([&] { jit(many_sums).trace(spec<float>({})); }), "");
  set_log("warn");
}

}  // namespace
}  // namespace calque::test
