#include "kernel/lower/lower_elements.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;
using plan::fusion_kind_of;
using plan::FusionKind;

namespace {

bool no_contract(const Equation& e) {
  const AttributeValue* value = e.attributes().find("exact");
  return value != nullptr && std::get<bool>(*value);
}

/// The lowering interface of primitives over the emitter, for one equation.
class EquationLowering final : public Lowering {
 public:
  EquationLowering(Elements& elements, Frame& frame, const Equation& equation)
      : elements_(elements), e_(elements.emitter()), frame_(frame), equation_(equation) {}

  const Graph& graph() const override { return frame_.graph(); }
  Scalar operand(size_t i, std::span<const Scalar> index) override {
    Ids parts;
    for (Scalar s : index) parts.push_back(s.id);
    return {elements_.element(frame_, equation_.operand(i), Index::of_parts(parts))};
  }
  Scalar op(PrimitiveId primitive, DType result, std::span<const Scalar> operands) override {
    Ids ids;
    if (const auto compose = rules(primitive).compose) return compose(*this, operands);
    for (Scalar s : operands) ids.push_back(s.id);
    if (primitive == id_of<Convert> && e_.dtype(ids[0]) == result) return {ids[0]};
    return {e_.scalar(primitive, result, ids)};
  }
  Scalar constant(DType dtype, const Literal& value) override { return {e_.constant(dtype, value)}; }
  DType dtype(Scalar s) const override { return e_.dtype(s.id); }
  Scalar guarded(Scalar predicate, const std::function<Scalar()>& inside, Scalar otherwise) override {
    const Id value = e_.under(predicate.id, [&] { return inside().id; });
    return {e_.scalar(id_of<Select>, e_.dtype(value), {predicate.id, value, otherwise.id})};
  }
  Scalar add(Scalar a, Scalar b) override { return {e_.add(a.id, b.id)}; }
  Scalar sub(Scalar a, Scalar b) override { return {e_.sub(a.id, b.id)}; }
  Scalar mul(Scalar a, int64_t b) override { return {e_.mul(a.id, b)}; }
  Scalar div(Scalar a, int64_t b) override { return {e_.div(a.id, b)}; }
  Scalar mod(Scalar a, int64_t b) override { return {e_.mod(a.id, b)}; }

 private:
  Elements& elements_;
  Emitter& e_;
  Frame& frame_;
  const Equation& equation_;
};

bool equal_up_to_size_1_dimensions(const Shape& a, const Shape& b) {
  size_t i = 0, j = 0;
  for (;;) {
    while (i < a.size() && a[i] == 1) ++i;
    while (j < b.size() && b[j] == 1) ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (a[i++] != b[j++]) return false;
  }
}

}  // namespace

Frame::Frame(const Graph& graph) : graph_(&graph) {
  static std::atomic<uint64_t> next{1};
  serial_ = next.fetch_add(1, std::memory_order_relaxed);
}

int Elements::depth_of(const Index& index) const {
  int depth = std::max(0, e_.depth_of(e_.predicate()));
  for (Id i : index.parts) depth = std::max(depth, e_.depth_of(i));
  if (index.flat != kNone) depth = std::max(depth, e_.depth_of(index.flat));
  return depth;
}

Emitter::MemoKey Elements::key(const Frame& frame, Value v, const Index& index) const {
  // A flat index and a single part can coincide only for rank 1, where they are the same.
  return {frame.serial(), v.id(), e_.predicate(), index.has_parts ? index.parts : Ids{index.flat}};
}

Id Elements::convert(Id value, DType to) {
  return e_.dtype(value) == to ? value : e_.scalar(id_of<Convert>, to, {value});
}

Index Elements::with_parts(const Index& index, const Shape& shape) {
  if (index.has_parts) return index;
  Index out = index;
  out.has_parts = true;
  int64_t stride = shape.num_elements();
  for (size_t i = 0; i < shape.size(); ++i) {
    stride = shape[i] == 0 ? 0 : stride / shape[i];
    if (shape[i] <= 1 || stride == 0) {
      out.parts.push_back(e_.index(0));
      continue;
    }
    const Id quotient = e_.div(index.flat, stride);
    out.parts.push_back(i == 0 ? quotient : e_.mod(quotient, shape[i]));
  }
  return out;
}

Id Elements::linear(const Operand& operand, const Shape& shape, const Index& index) {
  if (operand.dense && index.flat != kNone) return e_.add(index.flat, e_.index(operand.first));
  const Index full = with_parts(index, shape);
  std::vector<Emitter::Term> terms;
  for (size_t i = 0; i < full.parts.size(); ++i) {
    if (shape[i] == 1) continue;
    const Emitter::Term term{full.parts[i], operand.strides[i]};
    const auto both = terms.empty() ? std::nullopt : e_.combined(terms.back(), term);
    if (both)
      terms.back() = *both;
    else
      terms.push_back(term);
  }
  Id at = e_.index(operand.first);
  for (const Emitter::Term& t : terms) at = e_.add(at, e_.mul(t.index, t.step));
  return at;
}

Id Elements::load(const Operand& operand, const Shape& shape, const Index& index, bool pinned) {
  return e_.load(operand.buffer, linear(operand, shape, index), pinned);
}

bool Elements::flat(Frame& frame, Value v) {
  auto& known = flat_[frame.serial()];
  const auto at = known.find(v.id());
  if (at != known.end()) return at->second;
  // Depth first without recursion: chains may be long.
  std::vector<Value> stack{v};
  while (!stack.empty()) {
    const Value top = stack.back();
    if (known.count(top.id())) {
      stack.pop_back();
      continue;
    }
    const Graph& g = frame.graph();
    if (g.is_literal(top) || g.shape(top).rank() == 0) {
      known[top.id()] = true;
      continue;
    }
    if (!frame.computes(top)) {
      known[top.id()] = frame.reads_flat(top);
      continue;
    }
    const Equation& e = *g.definition(top);
    // A while inside a kernel is a loop over elements.
    const FusionKind kind = e.id() == id_of<While> ? FusionKind::elementwise : fusion_kind_of(e);
    if (kind == FusionKind::view && e.id() != id_of<Reshape>) {
      known[top.id()] = e.id() == id_of<Broadcast> && g.shape(e.operand(0)).num_elements() == 1;
      continue;
    }
    if (kind != FusionKind::elementwise && e.id() != id_of<Reshape>) {
      known[top.id()] = false;
      continue;
    }
    bool ready = true, all = true;
    for (Value o : e.operands()) {
      if (e.id() == id_of<While> && g.shape(o) != g.shape(top)) continue;  // a table, read by a separate index
      const auto it = known.find(o.id());
      if (it == known.end()) {
        stack.push_back(o);
        ready = false;
      } else {
        all = all && it->second;
      }
    }
    if (ready) known[top.id()] = all;
  }
  return known[v.id()];
}

// Computed in this kernel from elements at the same index.
bool Elements::is_pointwise(const Frame& frame, Value v) const {
  const Graph& g = frame.graph();
  if (g.kind(v) != ValueKind::result || !frame.computes(v)) return false;
  const Equation& e = *g.definition(v);
  return fusion_kind_of(e) == FusionKind::elementwise || e.id() == id_of<While>;
}

void Elements::prepare(Frame& frame, std::span<const Value> values, const Index& index) {
  const Graph& g = frame.graph();
  std::vector<Value> stack(values.begin(), values.end()), found;
  std::unordered_set<uint32_t> seen;
  while (!stack.empty()) {
    const Value v = stack.back();
    stack.pop_back();
    if (!is_pointwise(frame, v) || !seen.insert(v.id()).second || e_.find(key(frame, v, index)) != kNone) continue;
    found.push_back(v);
    for (Value o : g.definition(v)->operands())
      if (g.shape(o) == g.shape(v)) stack.push_back(o);
  }
  std::sort(found.begin(), found.end());  // ids grow in canonical order, which defines before it uses
  for (Value v : found) element(frame, v, index);
}

Id Elements::element(Frame& frame, Value v, const Index& index) {
  const Graph& g = frame.graph();
  if (g.is_literal(v)) return e_.constant(g.dtype(v), g.literal(v));
  if (!frame.computes(v)) {
    const std::optional<Id> had = frame.element(*this, v, index);
    if (!had) throw CompileError("internal: a kernel needs a value that is neither computed nor in memory");
    return *had;
  }
  const Emitter::MemoKey k = key(frame, v, index);
  const Id known = e_.find(k);
  if (known != kNone) return known;
  const Id id = compute(frame, *g.definition(v), v, index);
  e_.remember(k, id);
  return id;
}

Id Elements::compute(Frame& frame, const Equation& eq, Value v, const Index& index) {
  const Graph& g = frame.graph();
  switch (fusion_kind_of(eq)) {
    case FusionKind::elementwise: {
      // Chains of elementwise operations may be arbitrarily long: no deep recursion.
      for (Value o : eq.operands()) {
        if (!is_pointwise(frame, o) || e_.find(key(frame, o, index)) != kNone) continue;
        prepare(frame, eq.operands(), index);
        break;
      }
      Ids ids;
      for (Value o : eq.operands()) ids.push_back(element(frame, o, index));
      if (const auto compose = rules(eq.id()).compose) {
        EquationLowering lowering(*this, frame, eq);
        std::vector<Scalar> operands;
        for (const Id i : ids) operands.push_back({i});
        return compose(lowering, operands).id;
      }
      return e_.scalar(eq.id(), g.dtype(v), ids, no_contract(eq));
    }
    case FusionKind::view: {
      const Shape& shape = g.shape(v);
      if (eq.id() == id_of<Reshape>) {
        const Value o = eq.operand(0);
        const Shape& from = g.shape(o);
        if (from.num_elements() == 1) {
          Ids zeros(from.size(), e_.index(0));
          return element(frame, o, Index::of_parts(zeros));
        }
        if (index.has_parts && equal_up_to_size_1_dimensions(shape, from)) {
          Ids parts;
          size_t j = 0;
          for (size_t i = 0; i < from.size(); ++i) {
            if (from[i] == 1) {
              parts.push_back(e_.index(0));
              continue;
            }
            while (shape[j] == 1) ++j;
            parts.push_back(index.parts[j++]);
          }
          Index moved = Index::of_parts(parts);
          moved.flat = index.flat;
          return element(frame, o, moved);
        }
        if (index.flat != kNone) return element(frame, o, Index::of_flat(index.flat));
      }
      EquationLowering lowering(*this, frame, eq);
      std::vector<Scalar> at;
      if (eq.id() == id_of<Broadcast> && g.shape(eq.operand(0)).num_elements() == 1) {
        Ids zeros(g.shape(eq.operand(0)).size(), e_.index(0));
        return element(frame, eq.operand(0), Index::of_parts(zeros));
      }
      for (Id i : with_parts(index, shape).parts) at.push_back({i});
      size_t which = 0;
      while (eq.result(which) != v) ++which;
      return rules(eq.id()).lower(lowering, eq, which, at).id;
    }
    case FusionKind::reduction:
      return eq.id() == id_of<Argmax> || eq.id() == id_of<Argmin> ? arg_reduce(frame, eq, index)
                                                                  : reduce(frame, eq, index);
    case FusionKind::contraction:
      return contract(frame, eq, index);
    case FusionKind::loop:
    case FusionKind::branch: {
      const Ids results = control(frame, eq, index);
      for (size_t i = 0; i < results.size(); ++i)
        if (eq.result(i) != v) e_.remember(key(frame, eq.result(i), index), results[i]);
      for (size_t i = 0; i < results.size(); ++i)
        if (eq.result(i) == v) return results[i];
      break;
    }
    default:
      break;
  }
  throw CompileError("internal: " + eq.primitive() + " cannot be computed inside another kernel");
}

Id Elements::reduce(Frame& frame, const Equation& eq, const Index& at) {
  const Graph& g = frame.graph();
  const Value operand = eq.operand(0);
  const Shape& shape = g.shape(operand);
  const auto& axes = eq.attributes().ints("axes");
  const Index index = with_parts(at, g.shape(eq.result()));
  const DType acc = accumulator(g.dtype(operand));
  Combiner combiner = rules(eq.id()).combiner.value();
  if (acc == DType::bool_ && combiner == Combiner::max) combiner = Combiner::or_;
  if (acc == DType::bool_ && combiner == Combiner::min) combiner = Combiner::and_;
  const Id initial = e_.constant(acc, identity(combiner, acc));
  const int outermost = depth_of(index);

  Ids parts(shape.size(), kNone);
  size_t kept = 0;
  std::vector<size_t> reduced;
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) {
      parts[i] = index.parts[kept++];
    } else {
      reduced.push_back(i);
      count *= shape[i];
    }
  }
  const bool trailing = !reduced.empty() && reduced.front() + reduced.size() == shape.size();
  if (reduced.size() > 1 && trailing && flat_reductions_ && flat(frame, operand)) {
    // The reduced dimensions are contiguous: one loop over linear positions.
    Id base = e_.index(0);
    int64_t stride = count;
    for (size_t i = reduced.front(); i-- > 0;) {
      base = e_.add(base, e_.mul(parts[i], stride));
      stride *= shape[i];
    }
    const Ids results = e_.loop(LoopKind::reduction, count, Ids{initial}, std::array{combiner}, outermost,
                                [&](Id r, std::span<const Id>) {
                                  return Ids{convert(element(frame, operand, Index::of_flat(e_.add(base, r))), acc)};
                                });
    return convert(results[0], g.dtype(eq.result()));
  }
  std::function<Id(size_t, int)> nest = [&](size_t level, int depth) -> Id {
    while (level < reduced.size() && shape[reduced[level]] == 1) parts[reduced[level++]] = e_.index(0);
    if (level == reduced.size()) return convert(element(frame, operand, Index::of_parts(parts)), acc);
    const Ids results = e_.loop(LoopKind::reduction, shape[reduced[level]], Ids{initial}, std::array{combiner}, depth,
                                [&](Id r, std::span<const Id>) {
                                  parts[reduced[level]] = r;
                                  return Ids{nest(level + 1, e_.depth())};
                                });
    return results[0];
  };
  Id result = nest(0, outermost);
  // A sum of one element starts at zero as well: -0 becomes +0.
  if (count == 1 && combiner == Combiner::add && is_floating(acc))
    result = e_.scalar(id_of<Add>, acc, {initial, result});
  return convert(result, g.dtype(eq.result()));
}

Id Elements::arg_reduce(Frame& frame, const Equation& eq, const Index& at) {
  const Graph& g = frame.graph();
  const Value operand = eq.operand(0);
  const Shape& shape = g.shape(operand);
  const auto axis = static_cast<size_t>(eq.attributes().integer("axis"));
  const Index index = with_parts(at, g.shape(eq.result()));
  const DType dtype = accumulator(g.dtype(operand));
  const Combiner combiner = rules(eq.id()).combiner.value();
  const std::array initial{e_.constant(dtype, identity(combiner, dtype)), e_.index(shape[axis])};
  Ids parts;
  for (size_t i = 0, j = 0; i < shape.size(); ++i) parts.push_back(i == axis ? kNone : index.parts[j++]);
  const Ids results = e_.loop(LoopKind::reduction, shape[axis], initial, std::array{combiner, combiner},
                              depth_of(index), [&](Id r, std::span<const Id>) {
                                parts[axis] = r;
                                return Ids{convert(element(frame, operand, Index::of_parts(parts)), dtype), r};
                              });
  return convert(results[1], g.dtype(eq.result()));
}

Id Elements::contract(Frame& frame, const Equation& eq, const Index& at) {
  const Graph& g = frame.graph();
  const Shape& lhs = g.shape(eq.operand(0));
  const Shape& rhs = g.shape(eq.operand(1));
  const auto& lc = eq.attributes().ints("lhs_contract");
  const auto& rc = eq.attributes().ints("rhs_contract");
  const auto& lb = eq.attributes().ints("lhs_batch");
  const auto& rb = eq.attributes().ints("rhs_batch");
  const Index index = with_parts(at, g.shape(eq.result()));
  Ids left(lhs.size(), kNone), right(rhs.size(), kNone);
  size_t next = 0;
  for (size_t i = 0; i < lb.size(); ++i, ++next) {
    left[static_cast<size_t>(lb[i])] = index.parts[next];
    right[static_cast<size_t>(rb[i])] = index.parts[next];
  }
  const auto fill_free = [&](Ids& parts, const std::vector<int64_t>& contracted) {
    for (size_t i = 0; i < parts.size(); ++i)
      if (parts[i] == kNone &&
          std::find(contracted.begin(), contracted.end(), static_cast<int64_t>(i)) == contracted.end())
        parts[i] = index.parts[next++];
  };
  fill_free(left, lc);
  fill_free(right, rc);
  const DType dtype = g.dtype(eq.operand(0));
  const DType acc = accumulator(dtype);
  const bool logical = acc == DType::bool_;
  const Combiner combiner = logical ? Combiner::or_ : Combiner::add;
  const Id initial = e_.constant(acc, identity(combiner, acc));
  std::function<Id(size_t, int)> nest = [&](size_t level, int depth) -> Id {
    if (level == lc.size()) {
      const Id a = convert(element(frame, eq.operand(0), Index::of_parts(left)), acc);
      const Id b = convert(element(frame, eq.operand(1), Index::of_parts(right)), acc);
      return e_.scalar(logical ? id_of<And> : id_of<Mul>, acc, {a, b});
    }
    const auto l = static_cast<size_t>(lc[level]), r = static_cast<size_t>(rc[level]);
    if (lhs[l] == 1) {
      left[l] = right[r] = e_.index(0);
      return nest(level + 1, depth);
    }
    return e_.loop(LoopKind::reduction, lhs[l], Ids{initial}, std::array{combiner}, depth,
                   [&](Id k, std::span<const Id>) {
                     left[l] = right[r] = k;
                     return Ids{nest(level + 1, e_.depth())};
                   })[0];
  };
  Id result = nest(0, depth_of(index));
  const bool loops = std::any_of(lc.begin(), lc.end(), [&](int64_t l) { return lhs[static_cast<size_t>(l)] != 1; });
  if (!loops && is_floating(acc)) result = e_.scalar(id_of<Add>, acc, {initial, result});
  return convert(result, g.dtype(eq.result()));
}

}  // namespace calque::kernel
