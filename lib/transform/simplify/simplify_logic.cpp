// Each law is written above the line that applies it.
#include <algorithm>

#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

using namespace primitives;
using Result = std::optional<Value>;

Value truth(Rewriter& rewriter, const PendingEquation& pending, bool value) {
  return rewriter.literal(Literal::of<bool>(value), pending.type);
}

Result simplify_bits(Rewriter& rewriter, const PendingEquation& pending) {
  const PrimitiveId id = pending.primitive.id;
  // x and x = x, x or x = x, x xor x = 0
  if (pending.operands[0] == pending.operands[1]) {
    return id == id_of<Xor> ? rewriter.literal(Literal{}, pending.type) : pending.operands[0];
  }
  for (const int i : {0, 1}) {
    const Value x = pending.operands[static_cast<size_t>(1 - i)], c = pending.operands[static_cast<size_t>(i)];
    // x and 0 = 0, x or 0 = x, x xor 0 = x
    if (is_number(rewriter, c, 0)) return id == id_of<And> ? c : x;
    if (!is_all_ones(rewriter, c)) continue;
    // x and ~0 = x, x or ~0 = ~0, x xor ~0 = not x
    if (id == id_of<And>) return x;
    if (id == id_of<Or>) return c;
    return rewriter.emit<Not>({x});
  }
  return std::nullopt;
}

/// A comparison of a value with itself; a float may be NaN.
Result simplify_comparison(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  if (x != pending.operands[1] || is_inexact(rewriter.dtype(x))) return std::nullopt;
  const PrimitiveId id = pending.primitive.id;
  // int, bool: x = x, x <= x, x >= x are true; x != x, x < x, x > x are false
  return truth(rewriter, pending, id == id_of<Eq> || id == id_of<Le> || id == id_of<Ge>);
}

/// A side of a select as the parts of a concatenation.
class Parts {
 public:
  Parts(const Rewriter& rewriter, Value v) {
    if (rewriter.graph().is_literal(v)) splat_ = v;
    if (const Equation* e = rewriter.definition<Concatenate>(v)) {
      values_ = e->operands();
      axis_ = e->attributes().integer("axis");
    } else if (const Equation* padding = rewriter.definition<Pad>(v)) {
      find_padded(rewriter, *padding);
    }
  }

  bool concatenated() const { return !values_.empty(); }
  int64_t axis() const { return axis_; }
  const ValueList& values() const { return values_; }

  /// Whether there are such parts along that axis as the other side has.
  bool like(const Rewriter& rewriter, const Parts& other) {
    const auto extent = [&](Value v) { return rewriter.shape(v)[static_cast<size_t>(other.axis_)]; };
    if (concatenated()) {
      return axis_ == other.axis_ && std::ranges::equal(values_, other.values_, {}, extent, extent);
    }
    if (!padded_.valid()) return splat_.valid();
    if (axis_ != other.axis_) return false;
    // The part that the padding is around is a whole part of the other side.
    int64_t start = 0;
    for (const Value part : other.values_) {
      const bool inside = start == low_ && extent(part) == extent(padded_);
      if (!inside && start < low_ + extent(padded_) && low_ < start + extent(part)) return false;
      values_.push_back(inside ? padded_ : Value());
      start += extent(part);
    }
    return true;
  }
  /// Part i, which has that shape.
  Value part(Rewriter& rewriter, size_t i, const Shape& shape) const {
    if (!values_.empty() && values_[i].valid()) return values_[i];
    return rewriter.literal(Literal(rewriter.graph().literal(splat_)), {rewriter.dtype(splat_), shape});
  }

 private:
  /// Padding of one axis with a literal.
  void find_padded(const Rewriter& rewriter, const Equation& e) {
    if (!rewriter.graph().is_literal(e.operand(1))) return;
    const std::vector<int64_t>&low = e.attributes().ints("low"), &high = e.attributes().ints("high");
    int padded_axes = 0;
    for (size_t i = 0; i < low.size(); ++i) {
      if (e.attributes().ints("interior")[i] != 0 || low[i] < 0 || high[i] < 0) return;
      if (low[i] == 0 && high[i] == 0) continue;
      ++padded_axes;
      axis_ = static_cast<int64_t>(i);
      low_ = low[i];
    }
    if (padded_axes != 1) return;
    padded_ = e.operand(0);
    splat_ = e.operand(1);
  }

  Value splat_, padded_;
  ValueList values_;  // an invalid one is of the splat
  int64_t axis_ = -1, low_ = 0;
};

/// select(p, concatenate(x...), concatenate(y...)) = concatenate(select(p, x, y)...) where p is equal along the axis:
/// the parts are then computed each by itself, and what is expensive in them once. One side may be a splat, or one of
/// such parts between padding.
std::optional<Value> select_of_parts(Rewriter& rewriter, const PendingEquation& pending) {
  constexpr size_t kMostParts = 16;
  const Equation* const predicate = rewriter.definition<Broadcast>(pending.operands[0]);
  if (predicate == nullptr) return std::nullopt;
  Parts x(rewriter, pending.operands[1]), y(rewriter, pending.operands[2]);
  if (!x.concatenated() && !y.concatenated()) return std::nullopt;
  const Parts all = x.concatenated() ? x : y;
  if (all.values().size() > kMostParts) return std::nullopt;
  const std::vector<int64_t> axes = predicate->attributes().ints("axes");
  if (std::ranges::find(axes, all.axis()) != axes.end()) return std::nullopt;
  if (!x.like(rewriter, all) || !y.like(rewriter, all)) return std::nullopt;
  // Emitting moves equations.
  const Value q = predicate->operand(0);
  ValueList selected;
  for (size_t i = 0; i < all.values().size(); ++i) {
    const Shape shape = rewriter.shape(all.values()[i]);
    const Value px = x.part(rewriter, i, shape), py = y.part(rewriter, i, shape);
    const Value where =
        rewriter.emit<Broadcast>({q}, {{"axes", axes}, {"shape", std::vector<int64_t>(shape.begin(), shape.end())}});
    selected.push_back(rewriter.emit<Select>({where, px, py}));
  }
  return rewriter.emit<Concatenate>(std::move(selected), {{"axis", all.axis()}});
}

Result simplify_select(Rewriter& rewriter, const PendingEquation& pending) {
  const Value p = pending.operands[0], x = pending.operands[1], y = pending.operands[2];
  // select(p, x, x) = x
  if (x == y) return x;
  // select(true, x, y) = x, select(false, x, y) = y
  if (rewriter.graph().is_literal(p)) return is_number(rewriter, p, 1) ? x : y;
  // select(not p, x, y) = select(p, y, x)
  if (const Equation* e = rewriter.definition<Not>(p)) return rewriter.emit<Select>({e->operand(0), y, x});
  if (is_bool(pending.type.dtype)) {
    // select(p, true, false) = p, select(p, false, true) = not p
    if (is_number(rewriter, x, 1) && is_number(rewriter, y, 0)) return p;
    if (is_number(rewriter, x, 0) && is_number(rewriter, y, 1)) return rewriter.emit<Not>({p});
  }
  return select_of_parts(rewriter, pending);
}

}  // namespace

std::optional<Value> simplify_logic(Rewriter& rewriter, const PendingEquation& pending) {
  switch (pending.primitive.id) {
    case id_of<And>:
    case id_of<Or>:
    case id_of<Xor>:
      return simplify_bits(rewriter, pending);
    case id_of<Not>:
      // not not x = x
      if (const Equation* e = rewriter.definition<Not>(pending.operands[0])) return e->operand(0);
      return std::nullopt;
    case id_of<Shl>:
    case id_of<ShrArithmetic>:
    case id_of<ShrLogical>:
      // x shifted by 0 = x
      if (is_number(rewriter, pending.operands[1], 0)) return pending.operands[0];
      return std::nullopt;
    case id_of<Eq>:
    case id_of<Ne>:
    case id_of<Lt>:
    case id_of<Le>:
    case id_of<Gt>:
    case id_of<Ge>:
      return simplify_comparison(rewriter, pending);
    case id_of<Select>:
      return simplify_select(rewriter, pending);
    default:
      return std::nullopt;
  }
}

}  // namespace calque::transform
