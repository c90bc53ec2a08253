#include "primitives/contraction/dot_general.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "primitives/core/emit.h"
#include "primitives/core/index_walk.h"
#include "primitives/elementwise/numbers.h"
#include "primitives/registration.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

/// The dimensions of an operand of dot_general: batch, contracted, free.
struct DotAxes {
  List batch, contract, free;
};

DotAxes dot_axes(const Equation& e, const Shape& shape, bool lhs) {
  DotAxes axes{e.attributes().ints(lhs ? "lhs_batch" : "rhs_batch"),
               e.attributes().ints(lhs ? "lhs_contract" : "rhs_contract"),
               {}};
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!has_axis(axes.batch, d) && !has_axis(axes.contract, d)) axes.free.push_back(d);
  }
  return axes;
}

List range(int64_t first, size_t count) {
  List list(count);
  std::iota(list.begin(), list.end(), first);
  return list;
}

/// The cotangent of one operand: the result's cotangent contracted with the other operand over the other's free
/// dimensions, then transposed to the operand's order of dimensions.
Value transposed_operand(Transposition& t, bool lhs) {
  const size_t mine = lhs ? 0 : 1, others = lhs ? 1 : 0;
  const DotAxes my = dot_axes(t.equation, t.operand_type(mine).shape, lhs);
  const DotAxes other = dot_axes(t.equation, t.operand_type(others).shape, !lhs);
  const size_t batch = my.batch.size();
  // The positions of the other's free dimensions in the result: after the batch and, for the rhs, the lhs' free ones.
  const List ct_contract = range(static_cast<int64_t>(batch + (lhs ? my.free.size() : 0)), other.free.size());
  Attributes attributes{{"lhs_batch", range(0, batch)},
                        {"lhs_contract", ct_contract},
                        {"rhs_batch", other.batch},
                        {"rhs_contract", other.free}};
  const Value product = t.emit<DotGeneral>({t.cotangents[0], t.operands[others]}, std::move(attributes));
  // Dimensions of the product: batch, this operand's free ones, the other's contracted ones in the other's order.
  List order = my.batch;
  order.insert(order.end(), my.free.begin(), my.free.end());
  List contracted = other.contract;
  std::sort(contracted.begin(), contracted.end());
  for (const int64_t c : contracted) {
    const auto k = std::find(other.contract.begin(), other.contract.end(), c) - other.contract.begin();
    order.push_back(my.contract[static_cast<size_t>(k)]);
  }
  List perm(order.size());
  for (size_t i = 0; i < order.size(); ++i) perm[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return t.writer.transpose(product, std::move(perm));
}

}  // namespace

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
        } else if constexpr (scalar::is_complex_v<C>) {
          // In the order of the product of real matrices that complex ones are in memory.
          sum = {sum.real() + u.real() * v.real() - u.imag() * v.imag(),
                 sum.imag() + u.real() * v.imag() + u.imag() * v.real()};
        } else {
          sum = scalar::add(sum, scalar::mul(u, v));
        }
      }
      to[i] = static_cast<T>(sum);
    }
  });
}

void DotGeneral::jvp(Jvp& j) {
  if (j.active(0)) j.add(j.emit<DotGeneral>({j.tangents[0], j.primals[1]}, j.attributes()));
  if (j.active(1)) j.add(j.emit<DotGeneral>({j.primals[0], j.tangents[1]}, j.attributes()));
}

void DotGeneral::transpose(Transposition& t) {
  if (t.linear(0) && t.linear(1)) refuse(t.equation, NotLinear::reason);
  const bool lhs = t.linear(0);
  t.add(lhs ? 0 : 1, transposed_operand(t, lhs));
}

void DotGeneral::batch(Batching& b) {
  const auto moved = [&](size_t i, std::string_view name) {
    List axes = b.attributes().ints(name);
    for (int64_t& a : axes) a += b.batched[i] ? 1 : 0;
    return axes;
  };
  List lhs_batch = moved(0, "lhs_batch"), rhs_batch = moved(1, "rhs_batch");
  const size_t batch = lhs_batch.size();
  if (b.batched[0] && b.batched[1]) {
    lhs_batch.insert(lhs_batch.begin(), 0);
    rhs_batch.insert(rhs_batch.begin(), 0);
  }
  const Value product =
      b.emit<DotGeneral>({b.operands[0], b.operands[1]}, {{"lhs_batch", std::move(lhs_batch)},
                                                          {"lhs_contract", moved(0, "lhs_contract")},
                                                          {"rhs_batch", std::move(rhs_batch)},
                                                          {"rhs_contract", moved(1, "rhs_contract")}});
  // If only one operand is batched, the batch is the first free dimension of that operand.
  size_t at = 0;
  if (!b.batched[1]) at = batch;
  if (!b.batched[0]) at = batch + dot_axes(b.equation, b.operand_type(0).shape, true).free.size();
  b.result(b.writer.move_axis(product, at, 0));
}

template void register_family<ContractionList>(std::span<const Registration>);

}  // namespace calque::primitives
