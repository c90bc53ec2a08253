#pragma once
// lib/math's lanes as values of a graph under construction: every operation appends an equation over arrays of one
// shape.
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "calque/ir/graph.h"

#include "ir/thread_end.h"
#include "math/emulated_fma.h"
#include "math/lane.h"
#include "primitives/registry.h"

namespace calque::math {

/// The graph that receives equations, for the current thread.
struct GraphContext {
  Graph* graph = nullptr;
  Shape shape;
  Location location;
  bool fused = true;  ///< the target multiplies and adds in one instruction
  static GraphContext& current() { return thread_object<GraphContext>(); }
};

/// Makes another graph the receiver for a scope.
class GraphScope {
 public:
  GraphScope(Graph& graph, const Shape& shape, const Location& location, bool fused = GraphContext::current().fused)
      : saved_(std::exchange(GraphContext::current(), GraphContext{&graph, shape, location, fused})) {}
  ~GraphScope() { GraphContext::current() = std::move(saved_); }
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  GraphContext saved_;
};

struct GraphBackend {
  template <class T>
  using Value = calque::Value;
  using V = calque::Value;

  static GraphContext& here() { return GraphContext::current(); }
  template <class P>
  static V emit(ValueList operands, Attributes attributes = {}) {
    GraphContext& c = here();
    return c.graph->append(primitives::get<P>(), std::move(operands), std::move(attributes), {}, c.location).result();
  }

  /// Error-free transformations live on roundings happening where they are written.
  template <class T>
  static Attributes as_written() {
    if constexpr (std::is_floating_point_v<T>) return {{"exact", true}};
    return {};
  }

  template <class T>
  static V constant(T c) {
    return here().graph->add_literal(Literal::of<T>(c), {dtype_of<T>, here().shape});
  }
  template <class T>
  static V add(V a, V b) {
    return emit<primitives::Add>({a, b}, as_written<T>());
  }
  template <class T>
  static V sub(V a, V b) {
    return emit<primitives::Sub>({a, b}, as_written<T>());
  }
  template <class T>
  static V mul(V a, V b) {
    return emit<primitives::Mul>({a, b}, as_written<T>());
  }
  template <class T>
  static V div(V a, V b) {
    return emit<primitives::Div>({a, b});
  }
  template <class T>
  static V neg(V a) {
    return emit<primitives::Neg>({a});
  }
  template <class T>
  static V sqrt(V a) {
    return emit<primitives::Sqrt>({a});
  }
  template <class T>
  static V abs(V a) {
    return emit<primitives::Abs>({a});
  }
  template <class T>
  static V floor(V a) {
    return emit<primitives::Floor>({a});
  }
  template <class T>
  static V trunc(V a) {
    return emit<primitives::Trunc>({a});
  }
  template <class T>
  static V rint(V a) {
    return emit<primitives::Round>({a});
  }
  template <class T>
  static V fma(V a, V b, V c) {
    using F = Lane<T, GraphBackend>;
    if (here().fused) return emit<primitives::Fma>({a, b, c});
    return emulated_fma(F::from_raw(a), F::from_raw(b), F::from_raw(c)).raw();
  }
  template <class T>
  static V multiply_add(V a, V b, V c) {
    return here().fused ? fma<T>(a, b, c) : add<T>(mul<T>(a, b), c);
  }
  template <class T>
  static V product_error(V a, V b, V p) {
    using F = Lane<T, GraphBackend>;
    if (here().fused) return fma<T>(a, b, neg<T>(p));
    return emulated_product_error(F::from_raw(a), F::from_raw(b), F::from_raw(p)).raw();
  }
  template <class T>
  static V bit_and(V a, V b) {
    return emit<primitives::And>({a, b});
  }
  template <class T>
  static V bit_or(V a, V b) {
    return emit<primitives::Or>({a, b});
  }
  template <class T>
  static V bit_xor(V a, V b) {
    return emit<primitives::Xor>({a, b});
  }
  template <class T>
  static V bit_not(V a) {
    return emit<primitives::Not>({a});
  }
  template <class T>
  static V shift_left(V a, V n) {
    return emit<primitives::Shl>({a, n});
  }
  template <class T>
  static V shift_right(V a, V n) {
    return std::is_signed_v<T> ? emit<primitives::ShrArithmetic>({a, n}) : emit<primitives::ShrLogical>({a, n});
  }
  template <class T>
  static V eq(V a, V b) {
    return emit<primitives::Eq>({a, b});
  }
  template <class T>
  static V ne(V a, V b) {
    return emit<primitives::Ne>({a, b});
  }
  template <class T>
  static V lt(V a, V b) {
    return emit<primitives::Lt>({a, b});
  }
  template <class T>
  static V le(V a, V b) {
    return emit<primitives::Le>({a, b});
  }
  template <class T>
  static V gt(V a, V b) {
    return emit<primitives::Gt>({a, b});
  }
  template <class T>
  static V ge(V a, V b) {
    return emit<primitives::Ge>({a, b});
  }
  template <class T>
  static V select(V mask, V a, V b) {
    return emit<primitives::Select>({mask, a, b});
  }
  template <class To, class From>
  static V bitcast(V a) {
    return emit<primitives::Bitcast>({a}, {{"dtype", dtype_of<To>}});
  }
  template <class To, class From>
  static V convert(V a) {
    return emit<primitives::Convert>({a}, {{"dtype", dtype_of<To>}});
  }

  template <class T, std::size_t N, class Index>
  static V lookup(const std::array<T, N>& table, V i) {
    GraphContext& c = here();
    const V array = c.graph->add_constant(table_array(table));
    Shape with_vector = c.shape.with_inserted(c.shape.size(), 1);
    const V indices =
        emit<primitives::Reshape>({i}, {{"shape", std::vector<int64_t>(with_vector.begin(), with_vector.end())}});
    using Ints = std::vector<int64_t>;
    return emit<primitives::Gather>({array, indices}, {{"offset_dims", Ints{}},
                                                       {"collapsed_slice_dims", Ints{0}},
                                                       {"start_index_map", Ints{0}},
                                                       {"operand_batching_dims", Ints{}},
                                                       {"indices_batching_dims", Ints{}},
                                                       {"slice_sizes", Ints{1}},
                                                       {"mode", std::string("clip")}});
  }

  /// A loop that every element leaves at once unless its mask is set: vectors of lanes skip it together.
  template <class Mask, class... Out, class Slow, class... In>
  static std::tuple<Out...> rarely(const Mask& mask, const std::tuple<Out...>& fast, Slow slow, const In&... inputs) {
    GraphContext& c = here();
    const Type flag{DType::bool_, c.shape};
    Graph cond, body;
    cond.set_outputs({cond.add_input(flag)});
    (cond.add_input({dtype_of<typename Out::Scalar>, c.shape}), ...);
    {
      const GraphScope scope(body, c.shape, c.location);
      std::tuple<In...> arguments{In::from_raw(body.add_input({dtype_of<typename In::Scalar>, here().shape}))...};
      body.add_input(flag);
      (body.add_input({dtype_of<typename Out::Scalar>, here().shape}), ...);
      const std::tuple<Out...> results = std::apply(slow, arguments);
      std::apply([&](const auto&... r) { body.set_outputs({constant<bool>(false), r.raw()...}); }, results);
    }
    ValueList operands{inputs.raw()...};
    operands.push_back(mask.raw());
    std::apply([&](const auto&... f) { (operands.push_back(f.raw()), ...); }, fast);
    const Equation& e = emit_while(std::move(cond), std::move(body), 0, sizeof...(In), operands);
    return results<Out...>(e, std::index_sequence_for<Out...>{}, 1);
  }

  template <class Cond, class Body, class... Carry>
  static std::tuple<Carry...> while_lanes(Cond cond, Body body, const Carry&... initial) {
    GraphContext& c = here();
    Graph condition, next;
    {
      const GraphScope scope(condition, c.shape, c.location);
      std::tuple<Carry...> carry{
          Carry::from_raw(condition.add_input({dtype_of<typename Carry::Scalar>, here().shape}))...};
      condition.set_outputs({std::apply(cond, carry).raw()});
    }
    {
      const GraphScope scope(next, c.shape, c.location);
      std::tuple<Carry...> carry{Carry::from_raw(next.add_input({dtype_of<typename Carry::Scalar>, here().shape}))...};
      const std::tuple<Carry...> results = std::apply(body, carry);
      std::apply([&](const auto&... r) { next.set_outputs({r.raw()...}); }, results);
    }
    const Equation& e = emit_while(std::move(condition), std::move(next), 0, 0, {initial.raw()...});
    return results<Carry...>(e, std::index_sequence_for<Carry...>{});
  }

 private:
  static const Equation& emit_while(Graph cond, Graph body, int64_t cond_consts, int64_t body_consts,
                                    ValueList operands) {
    GraphContext& c = here();
    std::vector<Graph> graphs;
    graphs.push_back(std::move(cond));
    graphs.push_back(std::move(body));
    return c.graph->append(primitives::get<primitives::While>(), std::move(operands),
                           {{"cond_consts", cond_consts}, {"body_consts", body_consts}}, std::move(graphs), c.location);
  }
  template <class... Carry, std::size_t... I>
  static std::tuple<Carry...> results(const Equation& e, std::index_sequence<I...>, std::size_t first = 0) {
    return {Carry::from_raw(e.result(first + I))...};
  }
  /// One array a table, so that compiled code shares it.
  template <class T, std::size_t N>
  static AnyArray table_array(const std::array<T, N>& table) {
    static std::mutex& mutex = *new std::mutex;  // functions may still be compiled while the program ends
    static auto& arrays = *new std::map<const void*, AnyArray>;
    const std::lock_guard lock(mutex);
    AnyArray& a = arrays[table.data()];
    if (a.empty()) a = AnyArray::from(std::span<const T>(table), Shape{static_cast<int64_t>(N)});
    return a;
  }
};

}  // namespace calque::math
