#include "primitives/reduction/argmax.h"

#include <type_traits>

#include <fmt/format.h>

#include "primitives/core/index_walk.h"
#include "primitives/elementwise/numbers.h"

namespace calque::primitives {
namespace {

template <class Better>
void arg_reduce(Evaluation& e, Better better) {
  const AnyArray& x = e.operands[0];
  const auto axis = static_cast<size_t>(e.attributes.integer("axis"));
  const int64_t extent = x.shape()[axis];
  AnyArray& out = e.add_result();
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (contains(kReal | kBool, dtype_of<T>)) {
      using C = Compute<T>;
      const auto is_nan = [](C v) { return v != v; };
      const T* from = x.data_as<T>();
      int64_t next = 0;
      for_each_line(x.shape(), axis, [&](int64_t base, int64_t stride) {
        int64_t best = 0;
        auto best_value = static_cast<C>(from[base]);
        for (int64_t i = 1; i < extent && !is_nan(best_value); ++i) {
          const auto value = static_cast<C>(from[base + i * stride]);
          if (!is_nan(value) && !better(value, best_value)) continue;
          best = i;
          best_value = value;
        }
        visit_dtype(out.dtype(), [&]<class I>() {
          if constexpr (std::is_integral_v<I>) static_cast<I*>(out.mutable_data())[next] = static_cast<I>(best);
        });
        ++next;
      });
    }
  });
}

}  // namespace

void ArgRule::infer(Typing& t) {
  const Type& x = t.operand(0);
  t.accept(0, kReal | kBool);
  const int64_t axis = t.integer("axis");
  t.check_axis("axis", axis, x.shape.rank());
  const DType dtype = t.attributes().get<DType>("dtype");
  if (!is_integer(dtype)) t.dtype_error(fmt::format("expects an integer dtype, got {}", calque::name(dtype)));
  const int64_t extent = x.shape[static_cast<size_t>(axis)];
  if (extent == 0) t.shape_error(fmt::format("axis {} of {} is empty", axis, to_string(x)));
  const int bits = static_cast<int>(8 * size_of(dtype)) - (is_signed_integer(dtype) ? 1 : 0);
  if (bits < 62 && extent - 1 >= (int64_t{1} << bits)) {
    t.shape_error(fmt::format("axis {} of {} is too long for indices of {}", axis, to_string(x), calque::name(dtype)));
  }
  t.result(Type{dtype, x.shape.without(static_cast<size_t>(axis))});
}

void Argmax::evaluate(Evaluation& e) {
  arg_reduce(e, [](auto x, auto best) { return x > best; });
}

void Argmin::evaluate(Evaluation& e) {
  arg_reduce(e, [](auto x, auto best) { return x < best; });
}

}  // namespace calque::primitives
