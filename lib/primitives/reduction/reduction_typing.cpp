// Typing rules of reductions, cumulative operations and contractions.
#include <fmt/format.h>

#include "primitives/reduction/reduction.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

}  // namespace

void infer_reduction(Typing& t, DTypeSet accepted) {
  const Type& x = t.operand(0);
  t.accept(0, accepted);
  const List& axes = t.ints("axes");
  t.check_axes("axes", axes, x.shape.rank(), /*sorted=*/true);
  List shape;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (!has_axis(axes, static_cast<int64_t>(d))) shape.push_back(x.shape[d]);
  }
  t.result(x.dtype, shape);
}

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

void infer_cumulative(Typing& t, DTypeSet accepted) {
  t.accept(0, accepted);
  t.check_axis("axis", t.integer("axis"), t.operand(0).shape.rank());
  t.result(t.operand(0));
}

void DotGeneral::infer(Typing& t) {
  const Type& a = t.operand(0);
  const Type& b = t.operand(1);
  t.same_dtype();
  const List& a_batch = t.ints("lhs_batch");
  const List& b_batch = t.ints("rhs_batch");
  const List& a_contract = t.ints("lhs_contract");
  const List& b_contract = t.ints("rhs_contract");
  t.check_axes("lhs_batch", a_batch, a.shape.rank(), /*sorted=*/false);
  t.check_axes("rhs_batch", b_batch, b.shape.rank(), /*sorted=*/false);
  t.check_axes("lhs_contract", a_contract, a.shape.rank(), /*sorted=*/false);
  t.check_axes("rhs_contract", b_contract, b.shape.rank(), /*sorted=*/false);
  const auto pairs = [&](std::string_view what, const List& lhs, const List& rhs) {
    if (lhs.size() != rhs.size()) {
      t.shape_error(fmt::format("{} dimensions {} and {} differ in number", what, to_text(lhs), to_text(rhs)));
    }
    for (size_t k = 0; k < lhs.size(); ++k) {
      if (a.shape[static_cast<size_t>(lhs[k])] != b.shape[static_cast<size_t>(rhs[k])]) {
        t.shape_error(fmt::format("{} dimensions {} of {} and {} of {} differ", what, lhs[k], to_string(a), rhs[k],
                                  to_string(b)));
      }
    }
  };
  pairs("batch", a_batch, b_batch);
  pairs("contracted", a_contract, b_contract);
  for (int64_t d : a_batch) {
    if (has_axis(a_contract, d)) t.shape_error(fmt::format("dimension {} of a is both batch and contracted", d));
  }
  for (int64_t d : b_batch) {
    if (has_axis(b_contract, d)) t.shape_error(fmt::format("dimension {} of b is both batch and contracted", d));
  }
  List shape;
  for (int64_t d : a_batch) shape.push_back(a.shape[static_cast<size_t>(d)]);
  for (size_t d = 0; d < a.shape.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    if (!has_axis(a_batch, axis) && !has_axis(a_contract, axis)) shape.push_back(a.shape[d]);
  }
  for (size_t d = 0; d < b.shape.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    if (!has_axis(b_batch, axis) && !has_axis(b_contract, axis)) shape.push_back(b.shape[d]);
  }
  t.result(a.dtype, shape);
}

}  // namespace calque::primitives
