#include "math/expand.h"

#include "math/expand_rules.h"

namespace calque::math {

using namespace primitives;

namespace {

bool expands(const Graph& g, const Equation& e) { return lower_kind(g, e) == LowerKind::expanded_by_math; }

class Expander {
 public:
  Expander(const Graph& from, const ExpandOptions& options) : from_(from), options_(options), map_(from.num_values()) {}

  Graph run() {
    to_.set_name(from_.name());
    for (Value v : from_.inputs()) map_[v.id()] = to_.add_input(from_.type(v));
    for (const Equation& e : from_.equations()) {
      ValueList operands;
      for (Value v : e.operands()) operands.push_back(value(v));
      if (expands(from_, e)) {
        map_[e.result().id()] = expansion(e, operands);
        continue;
      }
      std::vector<Graph> subgraphs;
      for (const Graph& s : e.subgraphs()) subgraphs.push_back(expand(s, options_));
      const Equation& copy = to_.append(e.definition(), operands, e.attributes(), std::move(subgraphs), e.location());
      for (size_t i = 0; i < e.results().size(); ++i) map_[e.result(i).id()] = copy.result(i);
    }
    std::vector<Value> outputs;
    for (Value v : from_.outputs()) outputs.push_back(value(v));
    to_.set_outputs(std::move(outputs));
    return std::move(to_);
  }

 private:
  Value value(Value v) {
    Value& to = map_[v.id()];
    if (!to.valid()) {
      to = from_.kind(v) == ValueKind::literal ? to_.add_literal(from_.literal(v), from_.type(v))
                                               : to_.add_constant(from_.constant(v));
    }
    return to;
  }

  Value expansion(const Equation& e, const ValueList& operands) {
    const Type& type = from_.type(e.result());
    const GraphScope scope(to_, type.shape, e.location(), options_.fused);
    const bool small = type.dtype == DType::f16 || type.dtype == DType::bf16;
    if (small && e.id() == id_of<Nextafter>) return nextafter16(type.dtype, operands[0], operands[1]);
    ValueList wide = operands;
    if (small)
      for (Value& v : wide) v = GraphBackend::emit<Convert>({v}, {{"dtype", DType::f32}});
    const Value result = is_integer(type.dtype) ? expand_integer_power(type.dtype, wide[0], wide[1])
                                                : expand_float(type.dtype == DType::f64, e.id(), wide);
    if (!result.valid())
      throw CompileError("compile: " + e.primitive() + " of " + to_string(type) + " has no expansion" +
                         where_text(e.location()));
    return small ? GraphBackend::emit<Convert>({result}, {{"dtype", type.dtype}}) : result;
  }

  Value expand_float(bool twice, PrimitiveId id, const ValueList& operands) const {
    if (options_.estimates && !twice && id == id_of<Rsqrt>) return GraphBackend::emit<Rsqrt>(operands, {});
    if (options_.fast_math) {
      const Value fast = twice ? expand_f64_fast(id, operands) : expand_f32_fast(id, operands);
      if (fast.valid()) return fast;
    }
    return twice ? expand_f64(id, operands) : expand_f32(id, operands);
  }

  /// The neighbour among 16-bit floats, by their bits: sign and magnitude order is integer order.
  static Value nextafter16(DType dtype, Value x, Value y) {
    using I = Lane<int16_t, GraphBackend>;
    using F = Lane<float, GraphBackend>;
    const auto wide = [](Value v) { return F::from_raw(GraphBackend::emit<Convert>({v}, {{"dtype", DType::f32}})); };
    const F fx = wide(x), fy = wide(y);
    const I bits = I::from_raw(GraphBackend::emit<Bitcast>({x}, {{"dtype", DType::i16}}));
    const I target = I::from_raw(GraphBackend::emit<Bitcast>({y}, {{"dtype", DType::i16}}));
    const I nan(dtype == DType::f16 ? 0x7e00 : 0x7fc0);
    const auto away = (fx < fy) == (fx > F(0.0f));
    const I moved = where(away, bits + I(1), bits - I(1));
    const I from_zero = where(fy > F(0.0f), I(1), I(-0x7fff));
    const I next = where(fx == fy, target, where(fx == F(0.0f), from_zero, moved));
    const I result = where((fx != fx) | (fy != fy), nan, next);
    return GraphBackend::emit<Bitcast>({result.raw()}, {{"dtype", dtype}});
  }

  const Graph& from_;
  const ExpandOptions& options_;
  Graph to_;
  std::vector<Value> map_;
};

}  // namespace

bool needs_expansion(const Graph& graph) {
  for (const Equation& e : graph.equations()) {
    if (expands(graph, e)) return true;
    for (const Graph& s : e.subgraphs())
      if (needs_expansion(s)) return true;
  }
  return false;
}

Graph expand(const Graph& graph, const ExpandOptions& options) {
  return needs_expansion(graph) ? Expander(graph, options).run() : graph;
}

}  // namespace calque::math
