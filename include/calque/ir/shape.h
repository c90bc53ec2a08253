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
  constexpr int64_t value() const { return value_; }
  friend constexpr bool operator==(const Dim&, const Dim&) = default;

 private:
  int64_t value_ = 0;
};

/// The extents of an array, outermost first. Rank 0 is a scalar of one element.
class Shape {
 public:
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
  /// Extent of dimension `axis`, 0 <= axis < rank().
  int64_t operator[](size_t axis) const { return dims_[axis]; }
  Dim dim(size_t axis) const { return Dim(dims_[axis]); }
  /// The product of the extents; 1 for rank 0. Throws ShapeError when it does not fit int64_t.
  int64_t num_elements() const;

  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
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
std::ostream& operator<<(std::ostream& out, const Type& type);

}  // namespace calque
