#include "support/random/random_casts.h"

#include <cmath>

#include "primitives/list.h"
#include "support/random/random.h"

namespace calque::test {
namespace {

constexpr DType kTypes[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

class Casts {
 public:
  explicit Casts(uint64_t seed) : rng_(seed) {}

  Graph graph() {
    const Shape shapes[] = {Shape{}, Shape{3}, Shape{40}, Shape{5, 17}, Shape{300}};
    shape_ = rng_.pick(shapes);
    const auto inputs = rng_.between(2, 4);
    for (int64_t i = 0; i < inputs; ++i) cast_.push_back(graph_.add_input({rng_.pick(kTypes), shape_}));
    const auto steps = rng_.between(2, 12);
    std::vector<Value> outputs;
    for (int64_t i = 0; i < steps; ++i) {
      const DType d = rng_.pick(kTypes);
      const Value result = moved(computed(d), d);
      if (rng_.chance(15)) outputs.push_back(result);
      cast_.push_back(cast(result));
    }
    const auto last = rng_.between(1, 3);
    for (int64_t i = 0; i < last; ++i) outputs.push_back(cast_[cast_.size() - 1 - static_cast<size_t>(i)]);
    graph_.set_outputs(std::move(outputs));
    return std::move(graph_);
  }

 private:
  template <class P>
  Value emit(ValueList operands, Attributes attributes = {}) {
    return graph_.append(primitives::get<P>(), std::move(operands), std::move(attributes)).result();
  }
  Value convert(Value x, DType to) { return emit<primitives::Convert>({x}, {{"dtype", to}}); }
  /// A value of the type that was cast, mostly a recent one.
  Value operand(DType d) {
    const size_t from = cast_.size() > 4 && rng_.chance(60) ? cast_.size() - 4 : 0;
    const Value x = cast_[from + rng_.below(cast_.size() - from)];
    const Value value = graph_.dtype(x) == d ? x : convert(x, d);
    return rng_.chance(25) ? with_another_sign(value, d) : value;
  }
  /// Of a value that was cast: signs move to the operands of the operation before the cast.
  Value with_another_sign(Value x, DType d) {
    const auto one = [&](double sign) { return graph_.add_literal(make_literal(d, sign), {d, shape_}); };
    switch (rng_.below(5)) {
      case 0:
        return emit<primitives::Mul>({x, one(-1)});
      case 1:
        return emit<primitives::Div>({emit<primitives::Neg>({x}), one(rng_.chance(50) ? 1 : -1)});
      case 2: {
        const Value other = emit<primitives::Neg>({graph_.dtype(cast_[0]) == d ? cast_[0] : convert(cast_[0], d)});
        return emit<primitives::Select>({emit<primitives::Lt>({x, other}), emit<primitives::Neg>({x}), other});
      }
      default:
        return emit<primitives::Neg>({x});
    }
  }
  Value literal(DType d) {
    const double values[] = {0.1, -0.7, 3.0, -0.0};
    return graph_.add_literal(make_literal(d, rng_.pick(values)), {d, shape_});
  }
  Value computed(DType d) {
    const Value x = operand(d);
    const Value y = rng_.chance(10) ? literal(d) : operand(d);
    switch (rng_.below(9)) {
      case 0:
      case 1:
      case 2:
        return emit<primitives::Mul>({x, y});
      case 3:
        return emit<primitives::Mul>({x, x});
      case 4:
      case 5:
        return emit<primitives::Sub>({x, y});
      case 6:
      case 7:
        return emit<primitives::Add>({x, y});
      default:
        return emit<primitives::Div>({x, y});
    }
  }
  /// What commutes with rounding.
  Value moved(Value x, DType d) {
    switch (rng_.below(10)) {
      case 0:
        return emit<primitives::Neg>({x});
      case 1:
        return emit<primitives::Abs>({x});
      case 2:
        return emit<primitives::Max>({x, operand(d)});
      case 3: {
        const Value a = operand(d), b = operand(d);
        const Value less = emit<primitives::Lt>({a, b});
        return emit<primitives::Select>({less, x, operand(d)});
      }
      case 4:
        if (shape_.rank() == 0) return x;
        return emit<primitives::Reverse>({x}, {{"axes", std::vector<int64_t>{0}}});
      default:
        return x;
    }
  }
  Value cast(Value x) {
    const DType from = graph_.dtype(x), to = rng_.pick(kTypes);
    if (to != from) return convert(x, to);
    // To another type and back: of a wider type all that remains is the rounding.
    DType by = from;
    while (by == from) by = rng_.pick(kTypes);
    const Value there = convert(x, by);
    return convert(there, from);
  }

  Rng rng_;
  Graph graph_;
  Shape shape_;
  std::vector<Value> cast_;
};

}  // namespace

Graph random_casts(uint64_t seed) { return Casts(seed).graph(); }

std::vector<AnyArray> full_significands(const Graph& graph, uint64_t seed) {
  Rng rng(seed ^ 0x5851f42d4c957f2d);
  std::vector<AnyArray> arrays;
  for (const Type& t : graph.input_types()) {
    arrays.push_back(AnyArray::uninitialized(t));
    visit_dtype(t.dtype, [&]<class T>() {
      auto* p = static_cast<T*>(arrays.back().mutable_data());
      for (int64_t i = 0; i < arrays.back().size(); ++i) {
        const double significand = std::ldexp(static_cast<double>(rng.next() >> 11), -53) + 0.5;
        const double x = std::ldexp(significand, static_cast<int>(rng.between(-3, 3)));
        if constexpr (is_floating(dtype_of<T>)) p[i] = static_cast<T>(rng.chance(50) ? x : -x);
      }
    });
  }
  return arrays;
}

}  // namespace calque::test
