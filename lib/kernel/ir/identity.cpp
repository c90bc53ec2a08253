// The neutral elements of the combiners.
#include <limits>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

namespace {

template <class T>
Literal extreme(bool lowest) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) return Literal::of<T>(lowest ? T(-Limits::infinity()) : T(Limits::infinity()));
  return Literal::of<T>(lowest ? Limits::lowest() : Limits::max());
}

}  // namespace

Literal identity(Combiner combiner, DType dtype) {
  switch (combiner) {
    case Combiner::add:
      return make_literal(dtype, int64_t{0});
    case Combiner::mul:
      return make_literal(dtype, int64_t{1});
    case Combiner::and_: {
      Literal ones;
      for (size_t i = 0; i < size_of(dtype); ++i) ones.bytes[i] = is_bool(dtype) ? 1 : 0xff;
      return ones;
    }
    case Combiner::or_:
      return Literal{};
    case Combiner::max:
    case Combiner::argmax:
    case Combiner::min:
    case Combiner::argmin:
      break;
  }
  const bool lowest = combiner == Combiner::max || combiner == Combiner::argmax;
  return visit_dtype(dtype, [&]<class T>() -> Literal {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
      throw CompileError("identity: complex numbers have no order");
    else
      return extreme<T>(lowest);
  });
}

}  // namespace calque::kernel
