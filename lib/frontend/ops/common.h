#pragma once
// What the type-erased functions share: a call site for messages, promotion at run time, broadcasting, and the emission
// of one primitive. Values are handles of the innermost trace; types are copied, since recording moves the graph's own.
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/detail/ops.h"

#include "primitives/list.h"

namespace calque::detail::ops {

namespace prim = calque::primitives;
using Ints = std::vector<int64_t>;

/// A call of a public function: its name and line begin and end every message.
struct Site {
  std::string_view name;
  Location at;

  [[noreturn]] void shape_error(const std::string& text) const;
  [[noreturn]] void dtype_error(const std::string& text) const;
};

/// A weak literal made by the library: it takes the dtype of the other operands.
inline Operand lit(double value) { return literal_operand(value); }
inline Operand lit(int value) { return literal_operand(value); }

// ---- operands

/// The element type that an operand has by itself (weak literals: i32, f32, c64).
DType operand_dtype(const Operand& x, const Site& site);
/// The dtype to which the operands promote.
DType promoted_dtype(std::span<const Operand* const> xs, const Site& site);
DType promoted_dtype(const Operand& x, const Operand& y, const Site& site);
/// The operand as a value of `operand_dtype`. Throws ShapeError for an empty array.
Handle value(const Operand& x, const Site& site);
/// The operand as a value of dtype `dtype`.
Handle value(const Operand& x, DType dtype, const Site& site);
/// The operand as a value of dtype `dtype`, which the first argument of the function decides. Throws DTypeError unless
/// the operand and `dtype` promote to `dtype`.
Handle value_fitting(const Operand& x, DType dtype, const Site& site);

Type type(Handle h);
DType dtype(Handle h);
Shape shape(Handle h);
Handle convert(Handle x, DType dtype, const Site& site);
/// All elements equal to `number`.
Handle splat(double number, const Type& type, const Site& site);
/// Each element is its index along the axis.
Handle counted(DType dtype, const Shape& shape, int axis, const Site& site);
/// All operands promoted to a common dtype. Throws ShapeError when there is none.
std::vector<Handle> promoted(std::span<const Operand> xs, const Site& site);

// ---- emission

template <class P>
Handle emit(const Site& site, std::initializer_list<Handle> operands, Attributes attributes = {}) {
  return detail::emit(prim::get<P>(), operands, std::move(attributes), site.at);
}

/// The operand broadcast by NumPy's rules. Throws ShapeError when the shapes do not fit.
Handle broadcast(Handle x, const Shape& to, const Site& site);
/// Broadcasts so that dimension i of the operand becomes dimension axes[i] of the result.
Handle broadcast_in(Handle x, const Shape& to, const Ints& axes, const Site& site);
/// Broadcasts all to their common shape. Throws ShapeError `operands do not broadcast, got f32[3] and f32[4]`.
void broadcast_together(std::span<Handle> xs, const Site& site);
Handle reshape(Handle x, const Shape& to, const Site& site);
Handle transpose(Handle x, const Ints& perm, const Site& site);
Handle slice(Handle x, const Ints& start, const Ints& limit, const Ints& stride, const Site& site);
/// The slice [start, limit) with `stride` along one axis.
Handle slice_axis(Handle x, int axis, int64_t start, int64_t limit, int64_t stride, const Site& site);
Handle select(Handle condition, Handle x, Handle y, const Site& site);
/// The values, one or more, one after another along the axis.
Handle concatenated(std::span<const Handle> xs, int axis, const Site& site);
/// Throws ShapeError for an axis that is out of range and for equal axes.
Handle diagonal(Handle x, int64_t offset, int axis1, int axis2, const Site& site);

/// x * y if both are the same distance (the result of norm, hypot, or abs of a complex number), negative, multiplied or
/// divided or as it is: with a sum of squares.
std::optional<Handle> product_of_distances(Handle x, Handle y, const Site& site);

// ---- axes

/// The axis counted from the front. ShapeError when it is out of range.
int normal_axis(int axis, int rank, const Type& of, const Site& site);
/// Sorted axes from the front. ShapeError for one that is out of range or repeated.
Ints normal_axes(const Axes& axes, const Type& of, const Site& site);

// ---- dtypes

/// Throws DTypeError `needs <wanted>, got f32[3]`.
[[noreturn]] void reject(const Type& got, std::string_view wanted, const Site& site);
/// The dtype in which a function of several operations is computed: f32 for 16-bit floats, else `d`.
constexpr DType wide(DType d) { return d == DType::f16 || d == DType::bf16 ? DType::f32 : d; }

}  // namespace calque::detail::ops
