#include "math/expand.h"

#include "math/expand_rules.h"
#include "math/integer_power.h"
#include "math/remainder.h"

namespace calque::math {

using namespace primitives;

namespace {

bool expands(const Graph& g, const Equation& e) { return lower_kind(g, e) == LowerKind::expanded_by_math; }

class Expander {
 public:
  Expander(const Graph& from, const MathForms& forms) : from_(from), forms_(forms), map_(from.num_values()) {}

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
      for (const Graph& s : e.subgraphs()) subgraphs.push_back(expand(s, forms_));
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
    const GraphScope scope(to_, type.shape, e.location(), forms_.fused);
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
    if (forms_.estimates && !twice && id == id_of<Rsqrt>) return GraphBackend::emit<Rsqrt>(operands, {});
    const Value x = operands[0], y = operands[operands.size() - 1];
    return twice ? expand_f64(id, forms_.fast_math, x, y) : expand_f32(id, forms_.fast_math, x, y);
  }

  static Value expand_integer_power(DType dtype, Value x, Value n) {
    return visit_dtype(dtype, [&]<class T>() -> Value {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        using I = Lane<T, GraphBackend>;
        return integer_power(I::from_raw(x), I::from_raw(n)).raw();
      } else {
        return {};
      }
    });
  }

  static Value nextafter16(DType dtype, Value x, Value y) {
    using I = Lane<int16_t, GraphBackend>;
    using F = Lane<float, GraphBackend>;
    const auto wide = [](Value v) { return F::from_raw(GraphBackend::emit<Convert>({v}, {{"dtype", DType::f32}})); };
    const auto bits = [](Value v) { return I::from_raw(GraphBackend::emit<Bitcast>({v}, {{"dtype", DType::i16}})); };
    const I next = nextafter_of_half(wide(x), wide(y), bits(x), bits(y), dtype == DType::bf16);
    return GraphBackend::emit<Bitcast>({next.raw()}, {{"dtype", dtype}});
  }

  const Graph& from_;
  const MathForms& forms_;
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

Graph expand(const Graph& graph, const MathForms& forms) {
  return needs_expansion(graph) ? Expander(graph, forms).run() : graph;
}

}  // namespace calque::math
