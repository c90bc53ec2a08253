// Operations on concatenations of a few parts become operations on the parts: what is expensive in them is then
// computed once, and slices of the result are parts.
#include <algorithm>

#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

using namespace primitives;

/// As many computations as the program has written out already.
constexpr size_t kMostParts = 16;

/// An operand as the parts of a concatenation.
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

  bool is_splat() const { return splat_.valid() && !padded_.valid(); }
  bool is_padding() const { return padded_.valid(); }
  bool pads_with(const Rewriter& rewriter, const Parts& splat) const {
    return rewriter.graph().literal(splat_) == rewriter.graph().literal(splat.splat_);
  }
  bool concatenated() const { return !values_.empty(); }
  int64_t axis() const { return axis_; }
  const ValueList& values() const { return values_; }

  /// Whether there are such parts along that axis as the other operand has.
  bool like(const Rewriter& rewriter, const Parts& other) {
    const auto extent = [&](Value v) { return rewriter.shape(v)[static_cast<size_t>(other.axis_)]; };
    if (concatenated()) {
      return axis_ == other.axis_ && std::ranges::equal(values_, other.values_, {}, extent, extent);
    }
    if (!padded_.valid()) return splat_.valid();
    if (axis_ != other.axis_) return false;
    // The part that the padding is around is a whole part of the other operand.
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

/// The predicate of a select, if it is equal along an axis.
std::optional<Equation> predicate_along(const Rewriter& rewriter, const PendingEquation& pending, int64_t axis) {
  const Equation* const e = rewriter.definition<Broadcast>(pending.operands[0]);
  if (e == nullptr) return std::nullopt;
  const std::vector<int64_t>& axes = e->attributes().ints("axes");
  return std::ranges::find(axes, axis) == axes.end() ? std::optional(*e) : std::nullopt;
}

/// The select of two parts by the predicate of the whole.
Value select_part(Rewriter& rewriter, const Equation& predicate, Value x, Value y) {
  const Shape shape = rewriter.shape(x);
  Attributes attributes = predicate.attributes();
  attributes.set("shape", std::vector<int64_t>(shape.begin(), shape.end()));
  return rewriter.emit<Select>({rewriter.emit<Broadcast>({predicate.operand(0)}, std::move(attributes)), x, y});
}

/// select(p, pad(x), c) = pad(select(p, x, c)) of padding with c, where p is equal along the axis.
std::optional<Value> select_of_padding(Rewriter& rewriter, const PendingEquation& pending, const Parts& x,
                                       const Parts& y) {
  const bool first = x.is_padding();
  const Parts& padding = first ? x : y;
  const Parts& other = first ? y : x;
  if (!padding.is_padding() || !other.is_splat() || !padding.pads_with(rewriter, other)) return std::nullopt;
  const auto predicate = predicate_along(rewriter, pending, padding.axis());
  if (!predicate) return std::nullopt;
  const Equation pad = *rewriter.graph().definition(pending.operands[first ? 1 : 2]);
  const Value inside = pad.operand(0), fill = pad.operand(1);
  const Shape shape = rewriter.shape(inside);
  const Value c = rewriter.literal(Literal(rewriter.graph().literal(fill)), {pending.type.dtype, shape});
  const Value selected = select_part(rewriter, *predicate, first ? inside : c, first ? c : inside);
  return rewriter.emit<Pad>({selected, fill}, pad.attributes());
}

/// select(p, concatenate(x...), concatenate(y...)) = concatenate(select(p, x, y)...) where p is equal along the axis.
/// One side may be a splat, or one of such parts between padding.
std::optional<Value> select_of_parts(Rewriter& rewriter, const PendingEquation& pending) {
  Parts x(rewriter, pending.operands[1]), y(rewriter, pending.operands[2]);
  if (!x.concatenated() && !y.concatenated()) return select_of_padding(rewriter, pending, x, y);
  const Parts all = x.concatenated() ? x : y;
  if (all.values().size() > kMostParts) return std::nullopt;
  const auto predicate = predicate_along(rewriter, pending, all.axis());
  if (!predicate || !x.like(rewriter, all) || !y.like(rewriter, all)) return std::nullopt;
  ValueList selected;
  for (size_t i = 0; i < all.values().size(); ++i) {
    const Shape shape = rewriter.shape(all.values()[i]);
    const Value px = x.part(rewriter, i, shape), py = y.part(rewriter, i, shape);
    selected.push_back(select_part(rewriter, *predicate, px, py));
  }
  return rewriter.emit<Concatenate>(std::move(selected), {{"axis", all.axis()}});
}

/// concatenate(x...) + concatenate(y...) = concatenate(x + y...) of parts of extent 1, as small vectors and their
/// gradients are. One side may be such a part between padding.
std::optional<Value> add_of_parts(Rewriter& rewriter, const PendingEquation& pending) {
  Parts x(rewriter, pending.operands[0]), y(rewriter, pending.operands[1]);
  if ((!x.concatenated() && !y.concatenated()) || x.is_splat() || y.is_splat()) return std::nullopt;
  const Parts all = x.concatenated() ? x : y;
  if (all.values().size() > kMostParts) return std::nullopt;
  for (const Value v : all.values()) {
    if (rewriter.shape(v)[static_cast<size_t>(all.axis())] != 1) return std::nullopt;
  }
  if (!x.like(rewriter, all) || !y.like(rewriter, all)) return std::nullopt;
  const Attributes attributes = pending.attributes;
  ValueList sums;
  for (size_t i = 0; i < all.values().size(); ++i) {
    const Shape shape = rewriter.shape(all.values()[i]);
    const Value px = x.part(rewriter, i, shape), py = y.part(rewriter, i, shape);
    sums.push_back(rewriter.emit<Add>({px, py}, attributes));
  }
  return rewriter.emit<Concatenate>(std::move(sums), {{"axis", all.axis()}});
}

}  // namespace

std::optional<Value> simplify_parts(Rewriter& rewriter, const PendingEquation& pending) {
  if (pending.primitive.id == id_of<Select>) return select_of_parts(rewriter, pending);
  if (pending.primitive.id == id_of<Add>) return add_of_parts(rewriter, pending);
  return std::nullopt;
}

}  // namespace calque::transform
