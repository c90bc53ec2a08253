// Extents are never negative; a product that overflows is an error.
#include "calque/ir/shape.h"

#include <ostream>

#include "calque/ir/errors.h"

#include "ir/text/text.h"

namespace calque {
namespace {

void check_extent(int64_t extent, const Location& location = {}) {
  if (extent < 0) {
    throw ShapeError("shape: an extent is at least 0, got " + std::to_string(extent) + where_text(location));
  }
}

}  // namespace

void detail::throw_no_such_axis(int64_t axis, size_t rank, Location location) {
  throw ShapeError("shape: there is no dimension " + std::to_string(axis) + " of " + std::to_string(rank) +
                   where_text(location));
}

Shape::Shape(std::initializer_list<Dim> dims, Loc loc) {
  dims_.reserve(dims.size());
  for (const Dim& d : dims) {
    check_extent(d.value(), loc);
    dims_.push_back(d.value());
  }
}

Shape::Shape(std::span<const int64_t> dims) : dims_(dims) {
  for (const int64_t d : dims) check_extent(d);
}

int64_t Shape::num_elements() const {
  int64_t n = 1;
  bool fits = true;
  for (const int64_t d : dims_) {
    if (d == 0) return 0;
    if (__builtin_mul_overflow(n, d, &n)) fits = false;
  }
  if (!fits) throw ShapeError("shape: " + to_string(*this) + " has too many elements");
  return n;
}

Shape Shape::with_inserted(size_t axis, Dim extent) const {
  check_extent(extent.value());
  Shape s = *this;
  s.dims_.insert(axis, extent.value());
  return s;
}

Shape Shape::without(size_t axis) const {
  Shape s = *this;
  s.dims_.erase(axis);
  return s;
}

Shape Shape::with(size_t axis, Dim extent) const {
  check_extent(extent.value());
  Shape s = *this;
  s.dims_[axis] = extent.value();
  return s;
}

Shape::Dims row_major_strides(const Shape& shape) {
  Shape::Dims strides(shape.size(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    strides[at] = strides[at + 1] * shape[at + 1];
  }
  return strides;
}

Shape broadcast_shapes(const Shape& a, const Shape& b, bool& ok) {
  ok = true;
  const size_t rank = std::max(a.size(), b.size());
  Shape::Dims dims(rank, 1);
  for (size_t i = 0; i < rank; ++i) {  // from the innermost dimension
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) ok = false;
    dims[rank - 1 - i] = da == 1 ? db : da;
  }
  return Shape(std::span<const int64_t>(dims));
}

std::string to_string(const Shape& shape) {
  std::string out;
  text::append_shape(out, shape);
  return out;
}

std::string to_string(const Type& type) {
  std::string out;
  text::append_type(out, type);
  return out;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }
std::ostream& operator<<(std::ostream& out, const Type& type) { return out << to_string(type); }

}  // namespace calque
