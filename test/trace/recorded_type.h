#pragma once
// Checks that the C++ type returned by a public template has the dtype that the type-erased function recorded. Calls
// are function pointers and their runner is not a template, so that a call costs the compiler one instantiation only.
#include "calque/functions.h"

#include "support/trace_eval.h"

namespace calque::test {

/// The result of a call: the dtype of its C++ type, and the recorded value.
struct Returned {
  DType said;
  Handle recorded;
};
template <class T>
Returned returned(const Tracer<T>& x) {
  return {dtype_of<T>, x.handle()};
}

/// A call of a public template on two inputs.
struct Call {
  const char* name;
  Returned (*of)(const Handle& x, const Handle& y);
};

// For lists of calls in templates over the element types X and, if the call takes y, Y.
#define CALQUE_CALL(name, ...)                                     \
  {name, [](const Handle& x_, [[maybe_unused]] const Handle& y_) { \
     const Tracer<X> x(x_);                                        \
     return returned(__VA_ARGS__);                                 \
   }},
#define CALQUE_CALL_TWO(name, ...)                \
  {name, [](const Handle& x_, const Handle& y_) { \
     const Tracer<X> x(x_);                       \
     const Tracer<Y> y(y_);                       \
     return returned(__VA_ARGS__);                \
   }},

/// Makes every call on inputs of [2,3]. A call that throws DTypeError has no result type and is skipped.
inline void expect_own_types(DType x, DType y, std::span<const Call> calls) {
  trace({{x, Shape{2, 3}}, {y, Shape{2, 3}}}, [&](std::span<const Handle> in) {
    for (const Call& call : calls) {
      try {
        const Returned r = call.of(in[0], in[1]);
        EXPECT_EQ(detail::type_of(r.recorded, {}).dtype, r.said) << call.name << " of " << x << " and " << y;
      } catch (const DTypeError&) {
      }
    }
    return Handles{};
  });
}

}  // namespace calque::test
