// `if (x > 0)`: rejected with a message while tracing; works under an eager trace.
#include "classes/traced.h"

namespace calque::test {
namespace {

/// Runs a lambda under an eager trace, as CALQUE_DISABLE_JIT=1 does.
template <class F, class... T>
AnyArray eagerly(const F& f, const Array<T>&... arrays) {
  const std::vector<AnyArray> values{arrays.any()...};
  const std::vector<Type> types{arrays.any().type()...};
  const detail::TraceBody body = [&](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& out) {
    const detail::Handle* next = inputs.data();
    const std::tuple<Tracer<T>...> tracers{next_tracer<T>(next)...};
    out.push_back(detail::traced(std::apply(f, tracers)).handle());
  };
  return detail::trace_graph("test", types, body, {.eager = true, .values = values, .paths = {}}).values[0];
}

TEST(Truth, OfATracerIsRefusedWithTheLineThatMadeIt) {
  int line = 0;
  const std::string message = message_of<ConcretizationError>([&] {
    evaluated(
        [&](auto x) {
          line = __LINE__ + 1;
          const auto positive = x > 0;
          if (positive) return x;
          return -x;
        },
        Array<float>(1.f));
  });
  EXPECT_NE(message.find("bool"), std::string::npos) << message;
  EXPECT_NE(message.find("where, cond or while_loop"), std::string::npos) << message;
  EXPECT_NE(message.find(at_line("truth_test.cpp", line)), std::string::npos) << message;
}

TEST(Truth, OfAnArgumentNamesItsPath) {
  const std::string message =
      message_of<ConcretizationError>([] { evaluated([](auto p) { return p ? 1 : 2; }, Array<bool>(true)); });
  EXPECT_NE(message.find("argument 0"), std::string::npos) << message;
}

TEST(Truth, UnderAnEagerTraceIsTheValue) {
  const auto f = [](auto x) {
    if (x > 0) return x * 2;
    return -x;
  };
  EXPECT_EQ(eagerly(f, Array<float>(3.f)).as<float>().item(), 6);
  EXPECT_EQ(eagerly(f, Array<float>(-3.f)).as<float>().item(), 3);
  EXPECT_EQ(eagerly([](auto x) { return (x > 0) && !(x > 5) ? 1 : 0; }, Array<float>(3.f)).as<int>().item(), 1);
}

TEST(Truth, OfSeveralElementsIsAShapeError) {
  const std::string message =
      message_of<ShapeError>([] { eagerly([](auto x) { return x > 0 ? 1 : 2; }, Array<float>{1, 2}); });
  EXPECT_EQ(message, "bool: a tracer of one element was expected, got bool[2]; use all(x) or any(x)");
}

TEST(Truth, LogicalOperatorsWithACppBoolAreRejected) {
  message_of<ConcretizationError>([] { evaluated([](auto p) { return p && true; }, Array<bool>(true)); });
}

TEST(Printing, OfTracersShowsTypeAndName) {
  std::string text;
  traced_graph(
      [&](auto x) {
        std::ostringstream out;
        out << x;
        text = out.str();
        return x;
      },
      Array<float>::zeros({3, 4}));
  EXPECT_EQ(text, "f32[3,4] %0");
}

}  // namespace
}  // namespace calque::test
