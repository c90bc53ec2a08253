// Evaluation of reductions, argmax and cumulative operations, in row-major order.
#include <bit>
#include <limits>

#include "primitives/core/index_walk.h"
#include "primitives/elementwise/numbers.h"
#include "primitives/reduction/reduction.h"

namespace calque::primitives {
namespace {

/// f(... f(f(start, x0), x1) ...).
template <class C, class F>
struct Fold {
  C value;
  F f;
  void add(C x) { value = f(value, x); }
  C result() const { return value; }
};
template <class C, class F>
Fold(C, F) -> Fold<C, F>;

/// Sums blocks of eight, then pairs of blocks, pairs of pairs ...: the error grows with the logarithm of the length.
template <class C>
struct PairwiseSum {
  static constexpr int kBlock = 8;
  C block{};
  int in_block = 0;
  uint64_t blocks = 0;
  C levels[64];  // levels[k] is the sum of 2^k blocks where bit k of `blocks` is set

  void add(C x) {
    block += x;
    if (++in_block < kBlock) return;
    C sum = block;
    int k = 0;
    for (; (blocks >> k & 1) != 0; ++k) sum = levels[k] + sum;
    levels[k] = sum;
    ++blocks;
    block = C{};
    in_block = 0;
  }
  C result() const {
    C sum = block;
    for (int k = 0; k < 64; ++k) {
      if ((blocks >> k & 1) != 0) sum = levels[k] + sum;
    }
    return sum;
  }
};

/// The least and greatest value of T, infinite for floats.
template <class T>
T lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}
template <class T>
T highest() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::max();
}

/// Reduces with `start<C>()`, which makes an accumulator, for each dtype of the set.
template <DTypeSet Accepted, class Start>
void reduce(Evaluation& e, Start start) {
  const AnyArray& x = e.operands[0];
  const auto& axes = e.attributes.ints("axes");
  const auto strides = row_major_strides(x.shape());
  std::vector<int64_t> kept_strides, dims, inner_strides;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    if (has_axis(axes, static_cast<int64_t>(d))) {
      dims.push_back(x.shape()[d]);
      inner_strides.push_back(strides[d]);
    } else {
      kept_strides.push_back(strides[d]);
    }
  }
  const int64_t length = Shape(dims).num_elements();
  AnyArray& out = e.add_result();
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (contains(Accepted, dtype_of<T>)) {
      using C = Compute<T>;
      const T* from = x.data_as<T>();
      T* to = static_cast<T*>(out.mutable_data());
      IndexWalk walk(out.shape().dims());
      for (int64_t i = 0, n = out.size(); i < n; ++i, walk.next()) {
        const int64_t base = walk.dot(kept_strides);
        auto accumulator = start.template operator()<C>();
        IndexWalk inner(dims);
        for (int64_t k = 0; k < length; ++k, inner.next()) {
          accumulator.add(static_cast<C>(from[base + inner.dot(inner_strides)]));
        }
        to[i] = static_cast<T>(accumulator.result());
      }
    }
  });
}

/// Runs along `axis` of the operand: f(base, stride) for each of the other indices.
template <class F>
void for_each_line(const Shape& shape, size_t axis, F f) {
  const auto strides = row_major_strides(shape);
  std::vector<int64_t> dims(shape.begin(), shape.end());
  dims[axis] = 1;
  IndexWalk walk(dims);
  for (int64_t i = 0, n = Shape(dims).num_elements(); i < n; ++i, walk.next()) f(walk.dot(strides), strides[axis]);
}

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

template <DTypeSet Accepted, class F>
void accumulate(Evaluation& e, F f) {
  const AnyArray& x = e.operands[0];
  const auto axis = static_cast<size_t>(e.attributes.integer("axis"));
  const bool reverse = e.attributes.get<bool>("reverse");
  const int64_t extent = x.shape()[axis];
  AnyArray& out = e.add_result();
  if (out.size() == 0) return;
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (contains(Accepted, dtype_of<T>)) {
      using C = Compute<T>;
      const T* from = x.data_as<T>();
      T* to = static_cast<T*>(out.mutable_data());
      for_each_line(x.shape(), axis, [&](int64_t base, int64_t stride) {
        if (reverse) {
          base += (extent - 1) * stride;
          stride = -stride;
        }
        auto sum = static_cast<C>(from[base]);
        to[base] = from[base];
        for (int64_t i = 1; i < extent; ++i) {
          sum = f(sum, static_cast<C>(from[base + i * stride]));
          to[base + i * stride] = static_cast<T>(sum);
        }
      });
    }
  });
}

constexpr auto kSum = [](auto x, auto y) { return scalar::add(x, y); };
constexpr auto kProduct = [](auto x, auto y) { return scalar::mul(x, y); };
constexpr auto kMax = [](auto x, auto y) { return scalar::max(x, y); };
constexpr auto kMin = [](auto x, auto y) { return scalar::min(x, y); };

}  // namespace

void ReduceSum::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() {
    if constexpr (std::is_integral_v<C>) {
      return Fold{C{0}, kSum};
    } else {
      return PairwiseSum<C>{};
    }
  });
}

void ReduceProd::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() { return Fold{C{1}, kProduct}; });
}

void ReduceMax::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() { return Fold{lowest<C>(), kMax}; });
}

void ReduceMin::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() { return Fold{highest<C>(), kMin}; });
}

void ReduceAnd::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() {
    constexpr auto kAll = std::is_same_v<C, bool> ? C{1} : static_cast<C>(-1);
    return Fold{C{kAll}, [](C x, C y) { return static_cast<C>(x & y); }};
  });
}

void ReduceOr::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() { return Fold{C{0}, [](C x, C y) { return static_cast<C>(x | y); }}; });
}

void Argmax::evaluate(Evaluation& e) {
  arg_reduce(e, [](auto x, auto best) { return x > best; });
}

void Argmin::evaluate(Evaluation& e) {
  arg_reduce(e, [](auto x, auto best) { return x < best; });
}

void Cumsum::evaluate(Evaluation& e) { accumulate<accepted>(e, kSum); }
void Cumprod::evaluate(Evaluation& e) { accumulate<accepted>(e, kProduct); }
void Cummax::evaluate(Evaluation& e) { accumulate<accepted>(e, kMax); }
void Cummin::evaluate(Evaluation& e) { accumulate<accepted>(e, kMin); }

void DotGeneral::evaluate(Evaluation& e) {
  const AnyArray& a = e.operands[0];
  const AnyArray& b = e.operands[1];
  // For each result dimension, and for each contracted pair, the strides in a and in b.
  std::vector<int64_t> a_out, b_out, a_inner, b_inner, contracted;
  const auto a_strides = row_major_strides(a.shape());
  const auto b_strides = row_major_strides(b.shape());
  const auto& a_batch = e.attributes.ints("lhs_batch");
  const auto& b_batch = e.attributes.ints("rhs_batch");
  const auto& a_contract = e.attributes.ints("lhs_contract");
  const auto& b_contract = e.attributes.ints("rhs_contract");
  for (size_t k = 0; k < a_batch.size(); ++k) {
    a_out.push_back(a_strides[static_cast<size_t>(a_batch[k])]);
    b_out.push_back(b_strides[static_cast<size_t>(b_batch[k])]);
  }
  for (size_t d = 0; d < a.shape().size(); ++d) {
    if (has_axis(a_batch, static_cast<int64_t>(d)) || has_axis(a_contract, static_cast<int64_t>(d))) continue;
    a_out.push_back(a_strides[d]);
    b_out.push_back(0);
  }
  for (size_t d = 0; d < b.shape().size(); ++d) {
    if (has_axis(b_batch, static_cast<int64_t>(d)) || has_axis(b_contract, static_cast<int64_t>(d))) continue;
    a_out.push_back(0);
    b_out.push_back(b_strides[d]);
  }
  for (size_t k = 0; k < a_contract.size(); ++k) {
    contracted.push_back(a.shape()[static_cast<size_t>(a_contract[k])]);
    a_inner.push_back(a_strides[static_cast<size_t>(a_contract[k])]);
    b_inner.push_back(b_strides[static_cast<size_t>(b_contract[k])]);
  }
  const int64_t length = Shape(contracted).num_elements();
  std::vector<std::pair<int64_t, int64_t>> terms;
  AnyArray& out = e.add_result();
  if (out.size() == 0) return;
  IndexWalk inner(contracted);
  for (int64_t k = 0; k < length; ++k, inner.next()) terms.emplace_back(inner.dot(a_inner), inner.dot(b_inner));
  visit_dtype(out.dtype(), [&]<class T>() {
    using C = Compute<T>;
    const T* x = a.data_as<T>();
    const T* y = b.data_as<T>();
    T* to = static_cast<T*>(out.mutable_data());
    IndexWalk walk(out.shape().dims());
    for (int64_t i = 0, n = out.size(); i < n; ++i, walk.next()) {
      const int64_t at_x = walk.dot(a_out);
      const int64_t at_y = walk.dot(b_out);
      C sum{};
      for (const auto& [dx, dy] : terms) {
        const auto u = static_cast<C>(x[at_x + dx]);
        const auto v = static_cast<C>(y[at_y + dy]);
        if constexpr (std::is_same_v<C, bool>) {
          sum = sum || (u && v);
        } else {
          sum = scalar::add(sum, scalar::mul(u, v));
        }
      }
      to[i] = static_cast<T>(sum);
    }
  });
}

}  // namespace calque::primitives
