#pragma once
// Range-based for over the leading dimension of arrays and tracers.
#include <cstdint>
#include <iterator>
#include <utility>

#include "calque/ir/errors.h"
#include "calque/ir/location.h"
#include "calque/ir/shape.h"

namespace calque::detail {

/// The extent of the leading dimension. Throws ShapeError for a scalar.
inline int64_t leading_extent(const Shape& shape, const Location& location) {
  if (shape.rank() == 0) {
    throw ShapeError("for: a scalar has no elements to run over" + where_text(location));
  }
  return shape[0];
}

/// x[0], x[1], ... up to the leading extent. Owns x, which may be a temporary of the loop's head.
template <class X>
class Elements {
 public:
  using value_type = X;
  using difference_type = std::ptrdiff_t;

  Elements(X x, int64_t extent, Loc location) : x_(std::move(x)), extent_(extent), location_(location) {}
  X operator*() const { return x_[{position_, location_}]; }
  Elements& operator++() {
    ++position_;
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return position_ == extent_; }

 private:
  X x_;
  int64_t extent_, position_ = 0;
  Loc location_;
};

}  // namespace calque::detail
