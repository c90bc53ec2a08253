// Products of two arrays: NumPy's shapes, as contractions of labelled arrays where they sum.
#include <algorithm>

#include "frontend/ops/labelled_contraction.h"

namespace calque::detail::ops {
namespace {

struct TypedPair {
  Handle a, b;
  Type ta, tb;
};

TypedPair typed_pair(const Operand& a, const Operand& b, const Site& s) {
  const DType d = promoted_dtype(a, b, s);
  TypedPair r{value(a, d, s), value(b, d, s), {}, {}};
  r.ta = type(r.a);
  r.tb = type(r.b);
  return r;
}

[[noreturn]] void inner_differs(const TypedPair& x, const Site& s) {
  s.shape_error("inner dimensions differ, got " + to_string(x.ta) + " and " + to_string(x.tb));
}

Labels labels_from(int first, int count) {
  Labels out;
  for (int i = 0; i < count; ++i) out.push_back(first + i);
  return out;
}

/// Drops batch dimensions of extent 1 where the other operand's is larger, so that no broadcast is needed.
Labelled without_ones(Handle x, const Labels& labels, const std::vector<int64_t>& common, int64_t first_batch,
                      const Site& s) {
  const Shape own = shape(x);
  Labelled out{x, {}};
  Ints dims;
  for (size_t i = 0; i < labels.size(); ++i) {
    const int64_t batch = labels[i] - first_batch;
    if (batch >= 0 && own[i] == 1 && common[static_cast<size_t>(batch)] != 1) continue;
    out.labels.push_back(labels[i]);
    dims.push_back(own[i]);
  }
  out.value = reshape(x, Shape(dims), s);
  return out;
}

constexpr int kRow = 0, kColumn = 1, kInner = 2, kBatch = 3;

}  // namespace

Handle matmul(const Operand& a, const Operand& b, Location at) {
  const Site s{"matmul", at};
  const TypedPair x = typed_pair(a, b, s);
  const int ra = x.ta.shape.rank(), rb = x.tb.shape.rank();
  if (ra == 0 || rb == 0) {
    s.shape_error("needs arrays of rank 1 or more, got " + to_string(x.ta) + " and " + to_string(x.tb));
  }
  const int64_t inner_a = x.ta.shape[static_cast<size_t>(ra - 1)];
  const int64_t inner_b = x.tb.shape[static_cast<size_t>(rb == 1 ? 0 : rb - 2)];
  if (inner_a != inner_b) inner_differs(x, s);
  const int batch_a = std::max(ra - 2, 0), batch_b = std::max(rb - 2, 0), batch = std::max(batch_a, batch_b);
  std::vector<int64_t> common(static_cast<size_t>(batch), 1);
  for (int i = 0; i < batch; ++i) {
    const auto extent = [&](const Type& t, int count) {
      return i < batch - count ? int64_t{1} : t.shape[static_cast<size_t>(i - (batch - count))];
    };
    const int64_t ea = extent(x.ta, batch_a), eb = extent(x.tb, batch_b);
    if (ea != eb && ea != 1 && eb != 1) {
      s.shape_error("batch dimensions do not broadcast, got " + to_string(x.ta) + " and " + to_string(x.tb));
    }
    common[static_cast<size_t>(i)] = ea == 1 ? eb : ea;
  }
  Labels la = labels_from(kBatch + batch - batch_a, batch_a), lb = labels_from(kBatch + batch - batch_b, batch_b);
  if (ra > 1) la.push_back(kRow);
  la.push_back(kInner);
  lb.push_back(kInner);
  if (rb > 1) lb.push_back(kColumn);
  Labels order = labels_from(kBatch, batch);
  if (ra > 1) order.push_back(kRow);
  if (rb > 1) order.push_back(kColumn);
  const Labelled product =
      contract(without_ones(x.a, la, common, kBatch, s), without_ones(x.b, lb, common, kBatch, s), order, s);
  return in_order(product, order, s);
}

Handle dot(const Operand& a, const Operand& b, Location at) {
  const Site s{"dot", at};
  const TypedPair x = typed_pair(a, b, s);
  const int ra = x.ta.shape.rank(), rb = x.tb.shape.rank();
  if (ra == 0 || rb == 0) return multiply(x.a, x.b, at);
  const int axis_b = rb == 1 ? 0 : rb - 2;
  if (x.ta.shape[static_cast<size_t>(ra - 1)] != x.tb.shape[static_cast<size_t>(axis_b)]) inner_differs(x, s);
  const int a_axes[] = {ra - 1}, b_axes[] = {axis_b};
  return tensordot(x.a, x.b, a_axes, b_axes, at);
}

Handle outer(const Operand& a, const Operand& b, Location at) {
  const Site s{"outer", at};
  const TypedPair x = typed_pair(a, b, s);
  const int64_t m = x.ta.shape.num_elements(), n = x.tb.shape.num_elements();
  return multiply(reshape(x.a, Shape{m, 1}, s), reshape(x.b, Shape{1, n}, s), at);
}

namespace {

Handle conjugated(Handle x, const Site& s) { return is_complex(dtype(x)) ? emit<prim::Conj>(s, {x}) : x; }

Handle flattened(Handle x, const Site& s) { return reshape(x, Shape{shape(x).num_elements()}, s); }

}  // namespace

Handle inner(const Operand& a, const Operand& b, Location at) {
  const Site s{"inner", at};
  const TypedPair x = typed_pair(a, b, s);
  const int ra = x.ta.shape.rank(), rb = x.tb.shape.rank();
  if (ra == 0 || rb == 0) return multiply(x.a, x.b, at);
  const int a_axes[] = {ra - 1}, b_axes[] = {rb - 1};
  if (x.ta.shape[static_cast<size_t>(ra - 1)] != x.tb.shape[static_cast<size_t>(rb - 1)]) inner_differs(x, s);
  return tensordot(x.a, x.b, a_axes, b_axes, at);
}

Handle vdot(const Operand& a, const Operand& b, Location at) {
  const Site s{"vdot", at};
  const TypedPair x = typed_pair(a, b, s);
  if (x.ta.shape.num_elements() != x.tb.shape.num_elements()) {
    s.shape_error("arrays differ in their number of elements, got " + to_string(x.ta) + " and " + to_string(x.tb));
  }
  return dot(conjugated(flattened(x.a, s), s), flattened(x.b, s), at);
}

Handle vecdot(const Operand& a, const Operand& b, Location at) {
  const Site s{"vecdot", at};
  const TypedPair x = typed_pair(a, b, s);
  const Shape &sa = x.ta.shape, &sb = x.tb.shape;
  if (sa.rank() == 0 || sb.rank() == 0) {
    s.shape_error("needs arrays of rank 1 or more, got " + to_string(x.ta) + " and " + to_string(x.tb));
  }
  if (sa[sa.size() - 1] != sb[sb.size() - 1]) inner_differs(x, s);
  bool broadcasts = true;
  const Shape common = broadcast_shapes(sa.without(sa.size() - 1), sb.without(sb.size() - 1), broadcasts);
  if (!broadcasts) {
    s.shape_error("batch dimensions do not broadcast, got " + to_string(x.ta) + " and " + to_string(x.tb));
  }
  const std::vector<int64_t> extents(common.begin(), common.end());
  const auto labelled = [&](Handle v, int rank) {
    Labels labels = labels_from(kBatch + common.rank() - (rank - 1), rank - 1);
    labels.push_back(kInner);
    return without_ones(v, labels, extents, kBatch, s);
  };
  const Labels order = labels_from(kBatch, common.rank());
  return in_order(contract(labelled(conjugated(x.a, s), sa.rank()), labelled(x.b, sb.rank()), order, s), order, s);
}

Handle cross(const Operand& a, const Operand& b, Location at) {
  const Site s{"cross", at};
  const TypedPair x = typed_pair(a, b, s);
  for (const Type& t : {x.ta, x.tb}) {
    if (t.shape.rank() == 0 || t.shape[t.shape.size() - 1] != 3) {
      s.shape_error("needs vectors of 3 elements along the last axis, got " + to_string(x.ta) + " and " +
                    to_string(x.tb));
    }
  }
  if (is_bool(x.ta.dtype)) reject(x.ta, "numbers", s);
  Handle both[] = {x.a, x.b};
  broadcast_together(both, s);
  const int axis = shape(both[0]).rank() - 1;
  // Component i of the result is component i + by of v, modulo 3.
  const auto rotated = [&](Handle v, int64_t by) {
    const Handle parts[] = {slice_axis(v, axis, by, 3, 1, s), slice_axis(v, axis, 0, by, 1, s)};
    return concatenated(parts, axis, s);
  };
  const Handle left = emit<prim::Mul>(s, {rotated(both[0], 1), rotated(both[1], 2)});
  const Handle right = emit<prim::Mul>(s, {rotated(both[0], 2), rotated(both[1], 1)});
  return emit<prim::Sub>(s, {left, right});
}

Handle kron(const Operand& a, const Operand& b, Location at) {
  const Site s{"kron", at};
  const TypedPair x = typed_pair(a, b, s);
  const size_t rank = std::max(x.ta.shape.size(), x.tb.shape.size());
  const auto extent = [&](const Shape& of, size_t d) {
    const size_t missing = rank - of.size();
    return d < missing ? int64_t{1} : of[d - missing];
  };
  Ints first, second, result;
  int64_t total = 1;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t m = extent(x.ta.shape, d), n = extent(x.tb.shape, d);
    first.insert(first.end(), {m, 1});
    second.insert(second.end(), {1, n});
    int64_t product = 0;
    if (__builtin_mul_overflow(m, n, &product) || __builtin_mul_overflow(total, product, &total)) {
      s.shape_error("the result is too large, got " + to_string(x.ta) + " and " + to_string(x.tb));
    }
    result.push_back(product);
  }
  return reshape(multiply(reshape(x.a, Shape(first), s), reshape(x.b, Shape(second), s), at), Shape(result), s);
}

Handle tensordot(const Operand& a, const Operand& b, int count, Location at) {
  const Site s{"tensordot", at};
  const TypedPair x = typed_pair(a, b, s);
  const int ra = x.ta.shape.rank();
  if (count < 0 || count > ra || count > x.tb.shape.rank()) {
    s.shape_error("cannot contract " + std::to_string(count) + " axes of " + to_string(x.ta) + " and " +
                  to_string(x.tb));
  }
  std::vector<int> a_axes, b_axes;
  for (int i = 0; i < count; ++i) {
    a_axes.push_back(ra - count + i);
    b_axes.push_back(i);
  }
  return tensordot(x.a, x.b, a_axes, b_axes, at);
}

Handle tensordot(const Operand& a, const Operand& b, std::span<const int> a_axes, std::span<const int> b_axes,
                 Location at) {
  const Site s{"tensordot", at};
  const TypedPair x = typed_pair(a, b, s);
  if (a_axes.size() != b_axes.size()) {
    s.shape_error("needs as many axes of one array as of the other, got " + std::to_string(a_axes.size()) + " and " +
                  std::to_string(b_axes.size()));
  }
  const int ra = x.ta.shape.rank(), rb = x.tb.shape.rank();
  Labels la = labels_from(0, ra), lb = labels_from(ra, rb), order;
  std::vector<bool> used_a(static_cast<size_t>(ra), false), used_b(static_cast<size_t>(rb), false);
  for (size_t i = 0; i < a_axes.size(); ++i) {
    const auto p = static_cast<size_t>(normal_axis(a_axes[i], ra, x.ta, s));
    const auto q = static_cast<size_t>(normal_axis(b_axes[i], rb, x.tb, s));
    if (used_a[p] || used_b[q]) s.shape_error("an axis is given twice");
    used_a[p] = used_b[q] = true;
    if (x.ta.shape[p] != x.tb.shape[q]) {
      s.shape_error("contracted dimensions differ, axis " + std::to_string(p) + " of " + to_string(x.ta) +
                    " and axis " + std::to_string(q) + " of " + to_string(x.tb));
    }
    lb[q] = la[p];
  }
  for (size_t i = 0; i < la.size(); ++i) {
    if (!used_a[i]) order.push_back(la[i]);
  }
  for (size_t i = 0; i < lb.size(); ++i) {
    if (!used_b[i]) order.push_back(lb[i]);
  }
  return in_order(contract({x.a, la}, {x.b, lb}, order, s), order, s);
}

}  // namespace calque::detail::ops
