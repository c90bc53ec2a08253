// Each law stands above the line that applies it. Results have elements: empty ones are literals already.
#include <algorithm>
#include <limits>

#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

using namespace primitives;
using Result = std::optional<Value>;
using List = std::vector<int64_t>;

/// The view of a splat shows its element everywhere.
Result splat_of(Sweep& sweep, Value x, const Draft& d) {
  if (!sweep.graph().is_literal(x)) return std::nullopt;
  return sweep.literal(Literal(sweep.graph().literal(x)), d.type);
}

bool same_element(const Sweep& sweep, Value x, Value y) {
  const Graph& g = sweep.graph();
  return g.is_literal(x) && g.is_literal(y) && g.literal(x) == g.literal(y);
}

Result simplify_reshape(Sweep& sweep, const Draft& d) {
  const Value x = d.operands[0];
  // reshape to the same shape = x
  if (sweep.shape(x) == d.type.shape) return x;
  // reshape(reshape(x)) = reshape(x)
  if (const Equation* e = sweep.definition<Reshape>(x)) return sweep.emit<Reshape>({e->operand(0)}, d.attributes);
  return splat_of(sweep, x, d);
}

Result simplify_transpose(Sweep& sweep, const Draft& d) {
  const Value x = d.operands[0];
  const List& perm = d.attributes.ints("perm");
  // transpose by the identity = x
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  // transpose[q](transpose[p](x)) = transpose[p o q](x)
  if (const Equation* e = sweep.definition<Transpose>(x)) {
    const List& inner = e->attributes().ints("perm");
    List both;
    for (const int64_t i : perm) both.push_back(inner[static_cast<size_t>(i)]);
    return sweep.emit<Transpose>({e->operand(0)}, {{"perm", both}});
  }
  return splat_of(sweep, x, d);
}

Result simplify_broadcast(Sweep& sweep, const Draft& d) {
  const Value x = d.operands[0];
  const List& axes = d.attributes.ints("axes");
  // broadcast to the same shape = x
  if (sweep.shape(x) == d.type.shape) return x;
  // broadcast[b](broadcast[a](x)) = broadcast[b o a](x)
  if (const Equation* e = sweep.definition<Broadcast>(x)) {
    List both;
    for (const int64_t i : e->attributes().ints("axes")) both.push_back(axes[static_cast<size_t>(i)]);
    return sweep.emit<Broadcast>({e->operand(0)}, {{"axes", both}, {"shape", d.attributes.ints("shape")}});
  }
  return splat_of(sweep, x, d);
}

Result simplify_reverse(Sweep& sweep, const Draft& d) {
  const Value x = d.operands[0];
  const List& axes = d.attributes.ints("axes");
  // Reversing a dimension of extent 1 changes nothing.
  List kept;
  for (const int64_t axis : axes) {
    if (d.type.shape[static_cast<size_t>(axis)] != 1) kept.push_back(axis);
  }
  if (kept.empty()) return x;
  // reverse[b](reverse[a](x)) = reverse[a xor b](x)
  if (const Equation* e = sweep.definition<Reverse>(x)) {
    const List& inner = e->attributes().ints("axes");
    List both;
    std::set_symmetric_difference(kept.begin(), kept.end(), inner.begin(), inner.end(), std::back_inserter(both));
    return sweep.emit<Reverse>({e->operand(0)}, {{"axes", both}});
  }
  if (kept.size() != axes.size()) return sweep.emit<Reverse>({x}, {{"axes", kept}});
  return splat_of(sweep, x, d);
}

Result simplify_slice(Sweep& sweep, const Draft& d) {
  const Value x = d.operands[0];
  // A slice of everything is x: equal extents leave it no choice of start or stride.
  if (sweep.shape(x) == d.type.shape) return x;
  const Equation* e = sweep.definition<Slice>(x);
  if (e == nullptr) return splat_of(sweep, x, d);
  // slice(slice(x)) = slice(x) from start1 + start2 stride1 by stride1 stride2
  const List &start1 = e->attributes().ints("start"), &stride1 = e->attributes().ints("stride");
  const List &start2 = d.attributes.ints("start"), &stride2 = d.attributes.ints("stride");
  List start, limit, stride;
  for (size_t i = 0; i < start1.size(); ++i) {
    const int64_t n = d.type.shape[i];
    int64_t step = 1;
    // A dimension with one element has no step, whatever the strides say.
    if (n > 1 && __builtin_mul_overflow(stride1[i], stride2[i], &step)) return std::nullopt;
    start.push_back(start1[i] + (start2[i] == 0 ? 0 : start2[i] * stride1[i]));
    limit.push_back(start.back() + (n - 1) * step + 1);
    stride.push_back(step);
  }
  return sweep.emit<Slice>({e->operand(0)}, {{"limit", limit}, {"start", start}, {"stride", stride}});
}

Result simplify_pad(Sweep& sweep, const Draft& d) {
  const auto zero = [&](std::string_view name) {
    const List& list = d.attributes.ints(name);
    return std::all_of(list.begin(), list.end(), [](int64_t n) { return n == 0; });
  };
  // pad by nothing = x
  if (zero("low") && zero("high") && zero("interior")) return d.operands[0];
  // pad of a splat with its own element is a splat
  if (same_element(sweep, d.operands[0], d.operands[1])) return splat_of(sweep, d.operands[0], d);
  return std::nullopt;
}

Result simplify_concatenate(Sweep& sweep, const Draft& d) {
  // Operands without elements add nothing.
  const auto axis = static_cast<size_t>(d.attributes.integer("axis"));
  ValueList kept;
  for (const Value v : d.operands) {
    if (sweep.shape(v)[axis] != 0) kept.push_back(v);
  }
  // concatenate(x) = x
  if (kept.size() == 1) return kept[0];
  if (kept.size() != d.operands.size()) return sweep.emit<Concatenate>(kept, d.attributes);
  // a concatenation of one splat is a splat
  const bool splats = std::all_of(kept.begin(), kept.end(), [&](Value v) { return same_element(sweep, kept[0], v); });
  return splats ? splat_of(sweep, kept[0], d) : std::nullopt;
}

/// An integer literal, as far as int64_t holds it.
std::optional<int64_t> integer_of(const Sweep& sweep, Value v) {
  if (!sweep.graph().is_literal(v)) return std::nullopt;
  return visit_dtype(sweep.dtype(v), [&]<class T>() -> std::optional<int64_t> {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T x = sweep.graph().literal(v).template as<T>();
      return std::cmp_greater(x, std::numeric_limits<int64_t>::max()) ? std::numeric_limits<int64_t>::max()
                                                                      : static_cast<int64_t>(x);
    } else {
      return std::nullopt;
    }
  });
}

Result simplify_dynamic_slice(Sweep& sweep, const Draft& d) {
  const Value x = d.operands[0];
  // A window of the whole extents is x: there is no room to move it.
  if (sweep.shape(x) == d.type.shape) return x;
  if (const auto v = splat_of(sweep, x, d)) return v;
  // dynamic_slice at literal starts = slice
  List start, limit;
  for (size_t i = 0; i < d.type.shape.size(); ++i) {
    const auto at = integer_of(sweep, d.operands[i + 1]);
    if (!at) return std::nullopt;
    start.push_back(std::clamp<int64_t>(*at, 0, sweep.shape(x)[i] - d.type.shape[i]));
    limit.push_back(start.back() + d.type.shape[i]);
  }
  return sweep.emit<Slice>({x}, {{"limit", limit}, {"start", start}, {"stride", List(start.size(), 1)}});
}

/// Reductions over no elements but one: of the least, greatest, and, or of one value nothing but it remains.
Result simplify_reduction(Sweep& sweep, const Draft& d) {
  const Value x = d.operands[0];
  const List& axes = d.attributes.ints("axes");
  const bool single = std::all_of(axes.begin(), axes.end(),
                                  [&](int64_t axis) { return sweep.shape(x)[static_cast<size_t>(axis)] == 1; });
  // reduce over extents 1 = reshape
  if (single) return sweep.emit<Reshape>({x}, {{"shape", List(d.type.shape.begin(), d.type.shape.end())}});
  // the least, greatest, and, or of one element many times is the element
  const bool empty = sweep.shape(x).num_elements() == 0;
  return empty ? std::nullopt : splat_of(sweep, x, d);
}

}  // namespace

std::optional<Value> simplify_views(Sweep& sweep, const Draft& d) {
  switch (d.primitive.id) {
    case id_of<Reshape>:
      return simplify_reshape(sweep, d);
    case id_of<Transpose>:
      return simplify_transpose(sweep, d);
    case id_of<Broadcast>:
      return simplify_broadcast(sweep, d);
    case id_of<Reverse>:
      return simplify_reverse(sweep, d);
    case id_of<Slice>:
      return simplify_slice(sweep, d);
    case id_of<Pad>:
      return simplify_pad(sweep, d);
    case id_of<Concatenate>:
      return simplify_concatenate(sweep, d);
    case id_of<DynamicSlice>:
      return simplify_dynamic_slice(sweep, d);
    case id_of<DynamicUpdateSlice>:
      // an update of the whole extents = the update
      if (sweep.shape(d.operands[1]) == d.type.shape) return d.operands[1];
      // an update without elements changes nothing
      if (sweep.shape(d.operands[1]).num_elements() == 0) return d.operands[0];
      return std::nullopt;
    case id_of<Iota>:
      // iota of extent 1 = 0
      if (d.type.shape[static_cast<size_t>(d.attributes.integer("axis"))] == 1) {
        return sweep.literal(Literal{}, d.type);
      }
      return std::nullopt;
    case id_of<ReduceMax>:
    case id_of<ReduceMin>:
    case id_of<ReduceAnd>:
    case id_of<ReduceOr>:
      return simplify_reduction(sweep, d);
    default:
      return std::nullopt;
  }
}

}  // namespace calque::transform
