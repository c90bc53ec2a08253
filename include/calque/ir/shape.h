#pragma once
// A shape is a list of extents of a row-major array. Extents are `Dim`, today always constant.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "calque/ir/dtype.h"
#include "calque/ir/inline_vector.h"
#include "calque/ir/location.h"

namespace calque {

/// The extent of one dimension: today always constant, open to symbolic extents.
class Dim {
 public:
  constexpr Dim() = default;
  template <std::integral I>
  constexpr Dim(I value) : value_(static_cast<int64_t>(value)) {}
  /// The extent as a number.
  constexpr int64_t value() const { return value_; }
  friend constexpr bool operator==(const Dim&, const Dim&) = default;

 private:
  int64_t value_ = 0;
};

namespace detail {
/// An axis that may be negative, and the line where it was written.
struct SignedAxis {
  int64_t value;
  Location location;
  template <std::signed_integral I>
  SignedAxis(I i, Loc loc = Loc::current()) : value(static_cast<int64_t>(i)), location(loc) {}
};
/// Throws ShapeError for an axis outside [-rank, rank).
[[noreturn]] void throw_no_such_axis(int64_t axis, size_t rank, Location location);
}  // namespace detail

/// The extents of an array, outermost first. Rank 0 is a scalar of one element.
class Shape {
 public:
  /// A list of extents or strides; up to five are stored inline.
  using Dims = detail::InlineVector<int64_t, 5>;

  Shape() = default;
  /// `Shape{n, 3}` with integers of any type. Throws ShapeError for a negative extent.
  Shape(std::initializer_list<Dim> dims, Loc loc = Loc::current());
  /// Throws ShapeError for a negative extent.
  explicit Shape(std::span<const int64_t> dims);
  explicit Shape(const std::vector<int64_t>& dims) : Shape(std::span<const int64_t>(dims)) {}

  /// Number of dimensions.
  int rank() const { return static_cast<int>(dims_.size()); }
  /// Number of dimensions, as size_t.
  size_t size() const { return dims_.size(); }
  /// True for rank 0.
  bool empty() const { return dims_.empty(); }
  /// Extent of dimension `axis`; a negative one counts from the end. Throws ShapeError when it is outside
  /// [-rank(), rank()).
  int64_t operator[](detail::SignedAxis axis) const {
    const int64_t from_start = axis.value < 0 ? axis.value + rank() : axis.value;
    if (from_start < 0 || from_start >= rank()) [[unlikely]]
      detail::throw_no_such_axis(axis.value, dims_.size(), axis.location);
    return dims_[static_cast<size_t>(from_start)];
  }
  template <std::unsigned_integral I>
  int64_t operator[](I axis) const {
    if (axis >= dims_.size()) [[unlikely]]
      detail::throw_no_such_axis(static_cast<int64_t>(axis), dims_.size(), {});
    return dims_[axis];
  }
  /// Extent of dimension `axis`, which is less than rank() (not checked).
  Dim dim(size_t axis) const { return Dim(dims_[axis]); }
  /// The product of the extents; 1 for rank 0. Throws ShapeError when it does not fit int64_t.
  int64_t num_elements() const;

  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  /// The extents. Valid as long as the shape.
  std::span<const int64_t> dims() const { return dims_; }

  /// The shape with one more dimension of `extent` before `axis`.
  Shape with_inserted(size_t axis, Dim extent) const;
  /// The shape without dimension `axis`.
  Shape without(size_t axis) const;
  /// The shape with `extent` in dimension `axis`.
  Shape with(size_t axis, Dim extent) const;

  friend bool operator==(const Shape&, const Shape&) = default;
  /// Prints `[2,3]`.
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape);

 private:
  Dims dims_;
};

/// `[2,3]`, `[]`.
std::string to_string(const Shape& shape);

/// Row-major strides, in elements.
Shape::Dims row_major_strides(const Shape& shape);

/// The shape to which a and b broadcast by NumPy's rules; `ok` is false when there is none.
Shape broadcast_shapes(const Shape& a, const Shape& b, bool& ok);

/// The dtype and shape of a value.
struct Type {
  DType dtype = DType::f32;
  Shape shape;
  friend bool operator==(const Type&, const Type&) = default;
};

/// `f32[2,3]`; a scalar is `f32[]`.
std::string to_string(const Type& type);
/// Prints as `to_string`.
std::ostream& operator<<(std::ostream& out, const Type& type);

}  // namespace calque
