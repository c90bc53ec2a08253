#pragma once
// Whether what a public template returns has, as a C++ type, the dtype of what the type-erased function recorded. Calls
// are function pointers and their runner is no template: a call costs the compiler its own instantiation and no more.
#include "calque/functions.h"

#include "support/trace_eval.h"

namespace calque::test {

/// What a call returned: the dtype that its C++ type says, and what was recorded.
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

// For lists of calls in templates over the element types X and, where the call takes y, Y.
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

/// Makes every call on inputs of [2,3]. A DTypeError is a refusal, which has no type.
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
