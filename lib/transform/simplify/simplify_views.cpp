// Each law is written above the line that applies it. Results are not empty: empty ones are already literals.
#include <algorithm>
#include <limits>

#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

using namespace primitives;
using Result = std::optional<Value>;
using List = std::vector<int64_t>;

/// Every element of a view of a splat is the splat's element.
Result splat_of(Rewriter& rewriter, Value x, const PendingEquation& pending) {
  if (!rewriter.graph().is_literal(x)) return std::nullopt;
  return rewriter.literal(Literal(rewriter.graph().literal(x)), pending.type);
}

bool same_element(const Rewriter& rewriter, Value x, Value y) {
  const Graph& g = rewriter.graph();
  return g.is_literal(x) && g.is_literal(y) && g.literal(x) == g.literal(y);
}

Result simplify_reshape(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  // reshape to the same shape = x
  if (rewriter.shape(x) == pending.type.shape) return x;
  // reshape(reshape(x)) = reshape(x)
  if (const Equation* e = rewriter.definition<Reshape>(x))
    return rewriter.emit<Reshape>({e->operand(0)}, pending.attributes);
  return splat_of(rewriter, x, pending);
}

Result simplify_transpose(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  const List& perm = pending.attributes.ints("perm");
  // transpose by the identity = x
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  // transpose[q](transpose[p](x)) = transpose[p o q](x)
  if (const Equation* e = rewriter.definition<Transpose>(x)) {
    const List& inner = e->attributes().ints("perm");
    List both;
    for (const int64_t i : perm) both.push_back(inner[static_cast<size_t>(i)]);
    return rewriter.emit<Transpose>({e->operand(0)}, {{"perm", both}});
  }
  return splat_of(rewriter, x, pending);
}

Result simplify_broadcast(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  const List& axes = pending.attributes.ints("axes");
  // broadcast to the same shape = x
  if (rewriter.shape(x) == pending.type.shape) return x;
  // broadcast[b](broadcast[a](x)) = broadcast[b o a](x)
  if (const Equation* e = rewriter.definition<Broadcast>(x)) {
    List both;
    for (const int64_t i : e->attributes().ints("axes")) both.push_back(axes[static_cast<size_t>(i)]);
    return rewriter.emit<Broadcast>({e->operand(0)}, {{"axes", both}, {"shape", pending.attributes.ints("shape")}});
  }
  return splat_of(rewriter, x, pending);
}

Result simplify_reverse(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  const List& axes = pending.attributes.ints("axes");
  // Reversing a dimension of extent 1 changes nothing.
  List kept;
  for (const int64_t axis : axes) {
    if (pending.type.shape[static_cast<size_t>(axis)] != 1) kept.push_back(axis);
  }
  if (kept.empty()) return x;
  // reverse[b](reverse[a](x)) = reverse[a xor b](x)
  if (const Equation* e = rewriter.definition<Reverse>(x)) {
    const List& inner = e->attributes().ints("axes");
    List both;
    std::set_symmetric_difference(kept.begin(), kept.end(), inner.begin(), inner.end(), std::back_inserter(both));
    return rewriter.emit<Reverse>({e->operand(0)}, {{"axes", both}});
  }
  if (kept.size() != axes.size()) return rewriter.emit<Reverse>({x}, {{"axes", kept}});
  return splat_of(rewriter, x, pending);
}

/// slice(concatenate(..., x, ...)) = slice(x) of a stack: where all operands have extent 1 along the axis. Not of other
/// concatenations: in chains of concatenations of slices of concatenations every step would refer to the parts of all
/// steps before.
Result slice_of_stack(Rewriter& rewriter, const Equation& concatenation, const PendingEquation& pending) {
  const auto axis = static_cast<size_t>(concatenation.attributes().integer("axis"));
  if (pending.type.shape[axis] != 1) return std::nullopt;
  for (const Value x : concatenation.operands()) {
    if (rewriter.shape(x)[axis] != 1) return std::nullopt;
  }
  List start = pending.attributes.ints("start"), limit = pending.attributes.ints("limit");
  const Value x = concatenation.operand(static_cast<size_t>(start[axis]));
  start[axis] = 0;
  limit[axis] = 1;
  return rewriter.emit<Slice>({x}, {{"limit", limit}, {"start", start}, {"stride", pending.attributes.ints("stride")}});
}

/// A slice of padding is a splat, and one of what the padding is around a slice of that.
Result slice_of_pad(Rewriter& rewriter, const Equation& padding, const PendingEquation& pending) {
  const Value x = padding.operand(0), fill = padding.operand(1);
  const List low = padding.attributes().ints("low"), interior = padding.attributes().ints("interior");
  List start = pending.attributes.ints("start"), limit = pending.attributes.ints("limit");
  bool inside = true;
  for (size_t i = 0; i < start.size(); ++i) {
    if (interior[i] != 0) return std::nullopt;
    start[i] -= low[i];
    limit[i] -= low[i];
    const int64_t extent = rewriter.shape(x)[i];
    if (limit[i] <= 0 || start[i] >= extent) return splat_of(rewriter, fill, pending);
    inside = inside && start[i] >= 0 && limit[i] <= extent;
  }
  if (!inside) return std::nullopt;
  return rewriter.emit<Slice>({x}, {{"limit", limit}, {"start", start}, {"stride", pending.attributes.ints("stride")}});
}

Result simplify_slice(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  // A full slice is x: equal extents determine start and stride.
  if (rewriter.shape(x) == pending.type.shape) return x;
  if (const Equation* e = rewriter.definition<Concatenate>(x)) return slice_of_stack(rewriter, *e, pending);
  if (const Equation* e = rewriter.definition<Pad>(x)) return slice_of_pad(rewriter, *e, pending);
  const Equation* e = rewriter.definition<Slice>(x);
  if (e == nullptr) return splat_of(rewriter, x, pending);
  // slice(slice(x)) = slice(x) from start1 + start2 stride1 by stride1 stride2
  const List &start1 = e->attributes().ints("start"), &stride1 = e->attributes().ints("stride");
  const List &start2 = pending.attributes.ints("start"), &stride2 = pending.attributes.ints("stride");
  List start, limit, stride;
  for (size_t i = 0; i < start1.size(); ++i) {
    const int64_t n = pending.type.shape[i];
    int64_t step = 1;
    // The stride of a size-1 dimension does not matter.
    if (n > 1 && __builtin_mul_overflow(stride1[i], stride2[i], &step)) return std::nullopt;
    start.push_back(start1[i] + (start2[i] == 0 ? 0 : start2[i] * stride1[i]));
    limit.push_back(start.back() + (n - 1) * step + 1);
    stride.push_back(step);
  }
  return rewriter.emit<Slice>({e->operand(0)}, {{"limit", limit}, {"start", start}, {"stride", stride}});
}

Result simplify_pad(Rewriter& rewriter, const PendingEquation& pending) {
  const auto zero = [&](std::string_view name) {
    const List& list = pending.attributes.ints(name);
    return std::all_of(list.begin(), list.end(), [](int64_t n) { return n == 0; });
  };
  // pad by zero elements = x
  if (zero("low") && zero("high") && zero("interior")) return pending.operands[0];
  // pad of a splat with its own element is a splat
  if (same_element(rewriter, pending.operands[0], pending.operands[1]))
    return splat_of(rewriter, pending.operands[0], pending);
  return std::nullopt;
}

/// The slice that two slices of one value are if the second begins along the axis where the first ends.
Result joined_slice(Rewriter& rewriter, Value first, Value second, size_t axis) {
  const Equation* a = rewriter.definition<Slice>(first);
  const Equation* b = rewriter.definition<Slice>(second);
  if (a == nullptr || b == nullptr || a->operand(0) != b->operand(0)) return std::nullopt;
  const List& stride = a->attributes().ints("stride");
  List limit = a->attributes().ints("limit");
  const List &start = a->attributes().ints("start"), &start2 = b->attributes().ints("start"),
             &limit2 = b->attributes().ints("limit");
  if (stride != b->attributes().ints("stride") || stride[axis] != 1 || start2[axis] != limit[axis]) return std::nullopt;
  for (size_t i = 0; i < start.size(); ++i) {
    if (i != axis && (start[i] != start2[i] || limit[i] != limit2[i])) return std::nullopt;
  }
  limit[axis] = limit2[axis];
  return rewriter.emit<Slice>({a->operand(0)}, {{"limit", limit}, {"start", start}, {"stride", stride}});
}

Result simplify_concatenate(Rewriter& rewriter, const PendingEquation& pending) {
  // Empty operands are dropped.
  const auto axis = static_cast<size_t>(pending.attributes.integer("axis"));
  ValueList kept;
  for (const Value v : pending.operands) {
    if (rewriter.shape(v)[axis] != 0) kept.push_back(v);
  }
  // concatenate(x) = x
  if (kept.size() == 1) return kept[0];
  // slices of x that follow each other = one slice of x
  ValueList joined;
  for (const Value v : kept) {
    const Result both = joined.empty() ? std::nullopt : joined_slice(rewriter, joined.back(), v, axis);
    if (both) {
      joined.back() = *both;
    } else {
      joined.push_back(v);
    }
  }
  if (joined.size() == 1) return joined[0];
  if (joined.size() != pending.operands.size()) return rewriter.emit<Concatenate>(joined, pending.attributes);
  // a concatenation of one splat is a splat
  const bool splats =
      std::all_of(kept.begin(), kept.end(), [&](Value v) { return same_element(rewriter, kept[0], v); });
  return splats ? splat_of(rewriter, kept[0], pending) : std::nullopt;
}

/// The value of an integer literal, saturated to int64_t.
std::optional<int64_t> integer_of(const Rewriter& rewriter, Value v) {
  if (!rewriter.graph().is_literal(v)) return std::nullopt;
  return visit_dtype(rewriter.dtype(v), [&]<class T>() -> std::optional<int64_t> {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T x = rewriter.graph().literal(v).template as<T>();
      return std::cmp_greater(x, std::numeric_limits<int64_t>::max()) ? std::numeric_limits<int64_t>::max()
                                                                      : static_cast<int64_t>(x);
    } else {
      return std::nullopt;
    }
  });
}

Result simplify_dynamic_slice(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  // A window of the full extents is x: its start can only be 0.
  if (rewriter.shape(x) == pending.type.shape) return x;
  if (const auto v = splat_of(rewriter, x, pending)) return v;
  // dynamic_slice at literal starts = slice
  List start, limit;
  for (size_t i = 0; i < pending.type.shape.size(); ++i) {
    const auto at = integer_of(rewriter, pending.operands[i + 1]);
    if (!at) return std::nullopt;
    start.push_back(std::clamp<int64_t>(*at, 0, rewriter.shape(x)[i] - pending.type.shape[i]));
    limit.push_back(start.back() + pending.type.shape[i]);
  }
  return rewriter.emit<Slice>({x}, {{"limit", limit}, {"start", start}, {"stride", List(start.size(), 1)}});
}

/// The minimum, maximum, and, or of a single element or of equal elements is that element.
Result simplify_reduction(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  const List& axes = pending.attributes.ints("axes");
  const bool single = std::all_of(axes.begin(), axes.end(),
                                  [&](int64_t axis) { return rewriter.shape(x)[static_cast<size_t>(axis)] == 1; });
  // reduce over extents 1 = reshape
  if (single)
    return rewriter.emit<Reshape>({x}, {{"shape", List(pending.type.shape.begin(), pending.type.shape.end())}});
  // the minimum, maximum, and, or of a splat is its element
  const bool empty = rewriter.shape(x).num_elements() == 0;
  return empty ? std::nullopt : splat_of(rewriter, x, pending);
}

}  // namespace

std::optional<Value> simplify_views(Rewriter& rewriter, const PendingEquation& pending) {
  switch (pending.primitive.id) {
    case id_of<Reshape>:
      return simplify_reshape(rewriter, pending);
    case id_of<Transpose>:
      return simplify_transpose(rewriter, pending);
    case id_of<Broadcast>:
      return simplify_broadcast(rewriter, pending);
    case id_of<Reverse>:
      return simplify_reverse(rewriter, pending);
    case id_of<Slice>:
      return simplify_slice(rewriter, pending);
    case id_of<Pad>:
      return simplify_pad(rewriter, pending);
    case id_of<Concatenate>:
      return simplify_concatenate(rewriter, pending);
    case id_of<DynamicSlice>:
      return simplify_dynamic_slice(rewriter, pending);
    case id_of<DynamicUpdateSlice>:
      // an update of the full extents = the update
      if (rewriter.shape(pending.operands[1]) == pending.type.shape) return pending.operands[1];
      // an empty update = the operand
      if (rewriter.shape(pending.operands[1]).num_elements() == 0) return pending.operands[0];
      return std::nullopt;
    case id_of<Iota>:
      // iota of extent 1 = 0
      if (pending.type.shape[static_cast<size_t>(pending.attributes.integer("axis"))] == 1) {
        return rewriter.literal(Literal{}, pending.type);
      }
      return std::nullopt;
    case id_of<ReduceMax>:
    case id_of<ReduceMin>:
    case id_of<ReduceAnd>:
    case id_of<ReduceOr>:
      return simplify_reduction(rewriter, pending);
    default:
      return std::nullopt;
  }
}

}  // namespace calque::transform
