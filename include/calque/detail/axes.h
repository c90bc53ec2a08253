#pragma once
// The small parameter types of the named functions: axes, permutations, counts, modes, padding.
#include <concepts>
#include <initializer_list>
#include <utility>
#include <vector>

#include "calque/ir/shape.h"

namespace calque {

/// The axes of a reduction or a view: all of them (the default), one, or a list. Negative axes count from the end.
struct Axes {
  bool every = true;
  std::vector<int> list;

  Axes() = default;
  Axes(int axis) : every(false), list{axis} {}
  Axes(std::initializer_list<int> axes) : every(false), list(axes) {}
  Axes(std::vector<int> axes) : every(false), list(std::move(axes)) {}
};

/// An order of dimensions: dimension i of the result is dimension `list[i]` of the operand.
struct Perm {
  std::vector<int> list;

  Perm(std::initializer_list<int> axes) : list(axes) {}
  Perm(std::vector<int> axes) : list(std::move(axes)) {}
};

/// The type of `cq::keepdims`.
struct keepdims_t {};
/// `sum(x, {-1}, cq::keepdims)`: reduced dimensions are kept with extent 1.
inline constexpr keepdims_t keepdims{};
/// Whether reduced dimensions are kept with extent 1.
struct KeepDims {
  bool value = false;

  KeepDims() = default;
  KeepDims(keepdims_t) : value(true) {}
  template <std::same_as<bool> B>
  explicit KeepDims(B keep) : value(keep) {}
};

/// One integer for each dimension, as for `pad`, or `reshape` with -1 for one inferred extent.
struct Counts {
  std::vector<int64_t> list;

  Counts() = default;
  Counts(std::initializer_list<Dim> counts) {
    for (Dim count : counts) list.push_back(count.value());
  }
  Counts(std::vector<int64_t> counts) : list(std::move(counts)) {}
  Counts(const Shape& shape) : list(shape.begin(), shape.end()) {}
};

/// The element that an out-of-bounds index reads. `fill`: a fill value (NaN, the minimum of signed and the maximum of
/// unsigned integers, true), where negative indices first count from the end. `clip`: the nearest element, the first
/// for negative indices. `wrap`: the element at the index modulo the extent.
enum class mode { fill, clip, wrap };

namespace linalg {
/// A norm: Frobenius and nuclear norm of matrices; one, two and inf, that of vectors with this exponent, or the
/// operator norm of matrices that it induces; the others are the same formulas with a negative exponent, or with a
/// minimum in place of the maximum.
enum class ord { fro, nuc, one, two, inf, minus_one, minus_two, minus_inf };
}  // namespace linalg

/// The type of `cq::same`.
struct same_t {};
/// Padding of `conv` for ceil(extent / stride) output positions.
inline constexpr same_t same{};
/// The type of `cq::valid`.
struct valid_t {};
/// No padding: only positions where the whole window is inside the input.
inline constexpr valid_t valid{};

/// Padding of a convolution: `cq::valid` (the default), `cq::same`, or (before, after) for each spatial dimension.
struct Padding {
  /// What is given: no padding, that of `cq::same`, or numbers.
  enum class Kind { valid, same, pairs };
  Kind kind = Kind::valid;
  std::vector<std::pair<int64_t, int64_t>> pairs;

  Padding() = default;
  Padding(same_t) : kind(Kind::same) {}
  Padding(valid_t) {}
  Padding(std::initializer_list<std::pair<int64_t, int64_t>> each) : kind(Kind::pairs), pairs(each) {}
  Padding(std::vector<std::pair<int64_t, int64_t>> each) : kind(Kind::pairs), pairs(std::move(each)) {}
};

/// Parameters of `conv`; empty lists mean 1 for every spatial dimension.
struct ConvOptions {
  std::vector<int64_t> strides{};
  Padding padding{};
  std::vector<int64_t> dilation{};
  int groups = 1;
};

}  // namespace calque
