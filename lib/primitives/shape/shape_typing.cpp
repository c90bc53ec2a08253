// Typing rules of the views.
#include <algorithm>

#include <fmt/format.h>

#include "primitives/shape/shape.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

}  // namespace

void Iota::infer(Typing& t) {
  const DType dtype = t.attributes().get<DType>("dtype");
  if (!contains(kNumber, dtype)) t.dtype_error(fmt::format("expects a dtype of numbers, got {}", calque::name(dtype)));
  const List& shape = t.ints("shape");
  t.check_axis("axis", t.integer("axis"), static_cast<int>(shape.size()));
  t.result(dtype, shape);
}

void Broadcast::infer(Typing& t) {
  const Type& x = t.operand(0);
  const List& shape = t.ints("shape");
  const List& axes = t.ints("axes");
  t.check_length("axes", axes, x.shape.size());
  t.check_axes("axes", axes, static_cast<int>(shape.size()), /*sorted=*/true);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t to = shape[static_cast<size_t>(axes[i])];
    if (x.shape[i] != 1 && x.shape[i] != to) {
      t.shape_error(fmt::format("{} does not broadcast to {}, dimension {} has extent {} and not {}", to_string(x),
                                to_text(shape), i, x.shape[i], to));
    }
  }
  t.result(x.dtype, shape);
}

void Reshape::infer(Typing& t) {
  const Type& x = t.operand(0);
  const List& shape = t.ints("shape");
  std::vector<Type> results;
  t.result(x.dtype, shape);
  if (Shape(shape).num_elements() != x.shape.num_elements()) {
    t.shape_error(
        fmt::format("expects {} elements, got {} for shape {}", x.shape.num_elements(), to_string(x), to_text(shape)));
  }
}

void Transpose::infer(Typing& t) {
  const Type& x = t.operand(0);
  const List& perm = t.ints("perm");
  t.check_length("perm", perm, x.shape.size());
  t.check_axes("perm", perm, x.shape.rank(), /*sorted=*/false);
  List shape;
  for (int64_t p : perm) shape.push_back(x.shape[static_cast<size_t>(p)]);
  t.result(x.dtype, shape);
}

void Reverse::infer(Typing& t) {
  const Type& x = t.operand(0);
  t.check_axes("axes", t.ints("axes"), x.shape.rank(), /*sorted=*/true);
  t.result(x);
}

void Slice::infer(Typing& t) {
  const Type& x = t.operand(0);
  const List& start = t.ints("start");
  const List& limit = t.ints("limit");
  const List& stride = t.ints("stride");
  t.check_length("start", start, x.shape.size());
  t.check_length("limit", limit, x.shape.size());
  t.check_length("stride", stride, x.shape.size());
  List shape;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (start[i] < 0 || start[i] > limit[i] || limit[i] > x.shape[i]) {
      t.shape_error(fmt::format("expects 0 <= start <= limit <= extent, got {}:{} in dimension {} of {}", start[i],
                                limit[i], i, to_string(x)));
    }
    if (stride[i] < 1) t.shape_error(fmt::format("expects a positive stride, got {}", to_text(stride)));
    const int64_t length = limit[i] - start[i];
    shape.push_back(length / stride[i] + (length % stride[i] != 0 ? 1 : 0));
  }
  t.result(x.dtype, shape);
}

void Pad::infer(Typing& t) {
  const Type& x = t.operand(0);
  t.same_dtype();
  t.rank_is(1, 0, "a value");
  const List& low = t.ints("low");
  const List& high = t.ints("high");
  const List& interior = t.ints("interior");
  t.check_length("low", low, x.shape.size());
  t.check_length("high", high, x.shape.size());
  t.check_length("interior", interior, x.shape.size());
  List shape;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (interior[i] < 0) {
      t.shape_error(fmt::format("expects interior padding that is not negative, got {}", to_text(interior)));
    }
    const int64_t gaps = x.shape[i] > 0 ? x.shape[i] - 1 : 0;
    int64_t extent = 0;
    // The padding must be small enough for index arithmetic not to overflow.
    constexpr int64_t kLimit = int64_t{1} << 56;
    const bool fits = low[i] > -kLimit && low[i] < kLimit && high[i] > -kLimit && high[i] < kLimit &&
                      interior[i] < kLimit && !__builtin_mul_overflow(gaps, interior[i], &extent) && extent < kLimit;
    if (!fits) t.shape_error(fmt::format("dimension {} of {} is padded too far", i, to_string(x)));
    extent += x.shape[i] + low[i] + high[i];
    if (extent < 0) {
      t.shape_error(
          fmt::format("low {} and high {} cut more than dimension {} of {} has", low[i], high[i], i, to_string(x)));
    }
    shape.push_back(extent);
  }
  t.result(x.dtype, shape);
}

DiagonalRange::DiagonalRange(const Attributes& attributes, const Shape& shape)
    : axis1(static_cast<size_t>(attributes.integer("axis1"))), axis2(static_cast<size_t>(attributes.integer("axis2"))) {
  // An offset outside the array gives an empty diagonal wherever it is: clamping avoids overflow.
  const int64_t offset = std::clamp(attributes.integer("offset"), -shape[axis1], shape[axis2]);
  first1 = std::max<int64_t>(-offset, 0);
  first2 = std::max<int64_t>(offset, 0);
  length = std::min(shape[axis1] - first1, shape[axis2] - first2);
}

void Diagonal::infer(Typing& t) {
  const Type& x = t.operand(0);
  const int64_t axis1 = t.integer("axis1"), axis2 = t.integer("axis2");
  t.check_axis("axis1", axis1, x.shape.rank());
  t.check_axis("axis2", axis2, x.shape.rank());
  if (axis1 == axis2) t.shape_error(fmt::format("expects two axes, got axis {} twice", axis1));
  List shape;
  for (int64_t d = 0; d < x.shape.rank(); ++d) {
    if (d != axis1 && d != axis2) shape.push_back(x.shape[static_cast<size_t>(d)]);
  }
  shape.push_back(DiagonalRange(t.attributes(), x.shape).length);
  t.result(x.dtype, shape);
}

void Concatenate::infer(Typing& t) {
  const Type& first = t.operand(0);
  const int64_t axis = t.integer("axis");
  t.check_axis("axis", axis, first.shape.rank());
  t.same_dtype();
  int64_t extent = 0;
  for (size_t i = 0; i < t.num_operands(); ++i) {
    const Shape& shape = t.operand(i).shape;
    bool fits = shape.rank() == first.shape.rank();
    for (size_t d = 0; fits && d < shape.size(); ++d) {
      fits = shape[d] == first.shape[d] || d == static_cast<size_t>(axis);
    }
    if (!fits) {
      t.shape_error(fmt::format("operands differ in shape besides axis {}, got {} and {}", axis, to_string(first),
                                to_string(t.operand(i))));
    }
    if (__builtin_add_overflow(extent, shape[static_cast<size_t>(axis)], &extent)) {
      t.shape_error("the result has too many elements");
    }
  }
  List shape(first.shape.begin(), first.shape.end());
  shape[static_cast<size_t>(axis)] = extent;
  t.result(first.dtype, shape);
}

}  // namespace calque::primitives
