#pragma once
// Control flow that depends on values. It needs a running trace (else LeakedTracerError): each lambda is traced once,
// operands that are arrays or scalars become constants, results are trees of tracers. Lambdas may capture tracers of
// the enclosing trace. Nesting is limited to 200 levels (CompileError). Under CALQUE_DISABLE_JIT=1 the taken branch,
// and each iteration, runs as ordinary C++.
#include <tuple>
#include <utility>

#include "calque/detail/control/control_trees.h"

namespace calque {

/// The condition of `cond` and the line where it was written.
struct Predicate : detail::LocatedOperand {
  Predicate(const Tracer<bool>& t, Loc loc = Loc::current()) : LocatedOperand{t.handle(), loc} {}
  Predicate(const Array<bool>& a, Loc loc = Loc::current()) : LocatedOperand{a.any(loc), loc} {}
  template <std::same_as<bool> B>
  Predicate(B b, Loc loc = Loc::current()) : LocatedOperand{detail::literal_operand(b), loc} {}
};

/// The index of `switch_` and the line where it was written: any integer scalar.
struct BranchIndex : detail::LocatedOperand {
  template <IntegerElem I>
    requires(!std::same_as<I, bool>)
  BranchIndex(const Tracer<I>& t, Loc loc = Loc::current()) : LocatedOperand{t.handle(), loc} {}
  template <IntegerElem I>
    requires(!std::same_as<I, bool>)
  BranchIndex(const Array<I>& a, Loc loc = Loc::current()) : LocatedOperand{a.any(loc), loc} {}
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  BranchIndex(I i, Loc loc = Loc::current()) : LocatedOperand{detail::literal_operand(i), loc} {}
};

/// on_true(x...) if the predicate, a bool scalar, holds, else on_false(x...). Both must return the same type (compile
/// error) and the same shapes. Throws ShapeError with the path of the leaf that differs or for a predicate that is not
/// a scalar, LeakedTracerError outside a trace.
///     auto twice = [](auto x) { return 2.0 * x; };
///     jit([&](auto x) { return cond(x > 0.0, twice, [](auto x) { return -x; }, x); })(-3.0)  // 3.0
template <class F, class G, class... X>
auto cond(Predicate predicate, const F& on_true, const G& on_false, const X&... x) {
  using R = detail::carry_body_t<F, X...>;
  static_assert(std::same_as<R, detail::carry_body_t<G, X...>>,
                "calque: cond: the two branches return different types; cast, so that they agree");
  if constexpr (std::same_as<R, detail::carry_body_t<G, X...>>) {
    const Location at = predicate.location;
    detail::require_trace("cond", at);
    const std::vector<detail::Handle> operands = detail::operand_handles(at, x...);
    detail::ResultTree<R> result("cond", at);
    const auto branch = [&](const auto& f) {
      return [&](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& outputs) {
        result.put(detail::call_with_carries(f, std::tie(x...), inputs), "the branches' results", outputs);
      };
    };
    const std::vector<detail::Handle> handles =
        detail::cond(predicate.operand, branch(on_true), branch(on_false), operands, {at, {}});
    return result.rebuild(handles);
  }
}

/// branches[index](x...), with the index, an integer scalar, clamped to [0, number of branches). All branches must
/// return the same type (compile error) and the same shapes. Throws ShapeError with the path of the leaf that differs
/// or for an index that is not a scalar, LeakedTracerError outside a trace.
///     auto triple = [](auto x) { return 3.0 * x; };
///     auto square = [](auto x) { return x * x; };
///     jit([&](auto i, auto x) { return switch_(i, std::tuple{triple, square}, x); })(1, 5.0)  // 25.0
template <class... F, class... X>
auto switch_(BranchIndex index, const std::tuple<F...>& branches, const X&... x) {
  static_assert(sizeof...(F) > 0, "calque: switch_: there are no branches");
  using R = detail::carry_body_t<std::tuple_element_t<0, std::tuple<F...>>, X...>;
  static_assert((std::same_as<R, detail::carry_body_t<F, X...>> && ...),
                "calque: switch_: the branches return different types; cast, so that they agree");
  if constexpr ((std::same_as<R, detail::carry_body_t<F, X...>> && ...)) {
    const Location at = index.location;
    detail::require_trace("switch_", at);
    const std::vector<detail::Handle> operands = detail::operand_handles(at, x...);
    detail::ResultTree<R> result("switch_", at);
    const auto body_of = [&](const auto& f) {
      return [&, &branch = f](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& outputs) {
        result.put(detail::call_with_carries(branch, std::tie(x...), inputs), "the branches' results", outputs);
      };
    };
    const auto emit = [&](const auto&... held) {
      const detail::BodyRef bodies[] = {held...};
      return detail::switch_(index.operand, bodies, operands, {at, {}});
    };
    return result.rebuild(std::apply([&](const auto&... f) { return emit(body_of(f)...); }, branches));
  }
}

/// Repeats carry = body(carry) while condition(carry) holds, and returns the last carry. The carry, any tree, must keep
/// the types (compile error) and shapes of its initial value. With a condition that is an array, each of its elements
/// is a loop: elements whose condition is false keep their carry, and the shape of every leaf must start with the
/// condition's. Throws ShapeError with the path of a leaf whose shape changes or does not fit the condition,
/// LeakedTracerError outside a trace.
///     auto above = [](auto x) { return x > 1.0; };
///     jit([&](auto x) { return while_loop(above, [](auto x) { return x / 2.0; }, x); })(D{10, 3, 0.5})
///     // [0.625 0.75  0.5  ]
template <class C, class B, class S>
to_carry_t<S> while_loop(const C& condition, const B& body, const S& init, Loc loc = Loc::current()) {
  static_assert(std::same_as<detail::carry_body_t<C, S>, Tracer<bool>>,
                "calque: while_loop: the condition must return a bool");
  static_assert(std::same_as<detail::carry_body_t<B, S>, to_carry_t<S>>,
                "calque: while_loop: the body returns another type than the carry; mind that 0.0 is f64");
  using Carry = to_carry_t<S>;
  detail::require_trace("while_loop", loc);
  detail::ResultTree<Carry> result("while_loop", loc);
  std::vector<detail::Handle> carry;
  result.put(detail::carried(init, loc), "carry and result", carry);
  const auto traced_condition = [&](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& outputs) {
    outputs.push_back(detail::call_with_carries(condition, std::tie(init), inputs).handle());
  };
  const auto traced_body = [&](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& outputs) {
    result.put(detail::call_with_carries(body, std::tie(init), inputs), "the carry before and after the body", outputs);
  };
  const std::vector<std::string> paths = detail::leaf_paths(init);
  return result.rebuild(detail::while_loop(traced_condition, traced_body, carry, {loc, paths}, /*per_element=*/true));
}

namespace detail {
/// The body of a loop without its index.
template <class B>
struct WithoutIndex {
  const B& body;
  template <class I, class C>
  auto operator()(const I&, C&& carry) const {
    return call_traced(body, std::forward<C>(carry));
  }
};
}  // namespace detail

/// Repeats carry = body(i, carry), or body(carry) of a body without the index, for i = lower, ..., upper - 1, and
/// returns the last carry. `i` is a Tracer<int32_t> if both bounds are C++ integers, else of the bounds' promoted type.
/// The carry must keep its types (compile error) and shapes. Throws ShapeError with the path of a leaf whose shape
/// changes or for a bound that is not a scalar, DTypeError for a C++ bound that does not fit the type of `i`,
/// LeakedTracerError outside a trace.
///     jit([](auto x) { return fori_loop(0, 10, [](auto i, auto sum) { return sum + i * i; }, x); })(0.0)  // 285.0
template <OperandLike L, OperandLike U, class B, class S>
to_carry_t<S> fori_loop(const L& lower, const U& upper, const B& body, const S& init, Loc loc = Loc::current()) {
  using I = typename detail::loop_index<L, U>::type;
  constexpr bool integers = is_integer(dtype_of<promoted_elem_t<L, U>>);
  static_assert(integers, "calque: fori_loop: the bounds must be integers");
  constexpr bool without_index =
      !std::invocable<const B&, Tracer<I>, to_carry_t<S>> && std::invocable<const B&, to_carry_t<S>>;
  if constexpr (integers && without_index) {
    return fori_loop(lower, upper, detail::WithoutIndex<B>{body}, init, loc);
  } else if constexpr (integers) {
    static_assert(std::same_as<detail::carry_body_t<B, Tracer<I>, S>, to_carry_t<S>>,
                  "calque: fori_loop: the body returns another type than the carry; mind that 0.0 is f64");
    using Carry = to_carry_t<S>;
    detail::require_trace("fori_loop", loc);
    detail::ResultTree<Carry> result("fori_loop", loc);
    std::vector<detail::Handle> carry;
    result.put(detail::carried(init, loc), "carry and result", carry);
    const auto traced_body = [&](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& outputs) {
      result.put(detail::call_with_carries(body, std::tie(init), inputs.subspan(1), Tracer<I>(inputs[0])),
                 "the carry before and after the body", outputs);
    };
    const std::vector<std::string> paths = detail::leaf_paths(init);
    return result.rebuild(detail::fori_loop(detail::operand_of(lower, loc), detail::operand_of(upper, loc), dtype_of<I>,
                                            traced_body, carry, {loc, paths}));
  }
}

/// Options of `scan`.
struct ScanOptions {
  /// Iterate from the last slice to the first; ys keep the order of the xs.
  bool reverse = false;
  /// Unroll factor of the compiled loop.
  int unroll = 1;
  /// The number of iterations; needed when `xs` holds no arrays.
  int64_t length = -1;
};

/// [carry, y] = body(carry, x) for each slice x along the leading dimension of the leaves of xs. Returns std::pair of
/// the last carry and the ys stacked along a new leading dimension. The body returns std::pair{carry, y}; the carry
/// must keep its types (compile error) and shapes. Throws ShapeError with the path of a leaf of the carry whose shape
/// changes, when the leaves of xs differ in their leading extent or have rank 0, when there are none and no `length`,
/// or for an `unroll` below 1; LeakedTracerError outside a trace.
///     auto step = [](auto sum, auto x) { return std::pair{sum + x, sum * x}; };
///     jit([&](auto xs) { return scan(step, 0.0, xs); })(D{1, 2, 3})  // 6.0, [0. 2. 9.]
template <class F, class S, class X>
auto scan(const F& body, const S& init, const X& xs, ScanOptions options = {}, Loc loc = Loc::current()) {
  using R = detail::scan_body_t<F, S, X>;
  static_assert(detail::is_pair<R>, "calque: scan: the body must return std::pair{carry, y}");
  if constexpr (detail::is_pair<R>) {
    constexpr bool same = std::same_as<typename R::first_type, to_carry_t<S>>;
    static_assert(same, "calque: scan: the body returns another carry type than that of init; mind that 0.0 is f64");
    if constexpr (same && detail::check_rows<typename R::second_type>()) {
      detail::require_trace("scan", loc);
      const std::vector<detail::Handle> slices = detail::operand_handles(loc, xs);
      detail::ResultTree<to_carry_t<S>> last("scan", loc);
      detail::ResultTree<to_tracer_t<typename R::second_type>> ys("scan", loc);
      std::vector<detail::Handle> carry;
      last.put(detail::carried(init, loc), "carry and result", carry);
      const auto traced_body = [&](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& outputs) {
        R result =
            detail::carried(detail::call_seeing<to_carry_t<S>, to_tracer_t<X>>(body, std::tie(init, xs), inputs));
        last.put(std::move(result.first), "the carry before and after the body", outputs);
        ys.put(detail::traced(result.second), "the results of two iterations", outputs);
      };
      const std::vector<std::string> paths = detail::leaf_paths(init);
      const std::vector<detail::Handle> handles =
          detail::scan(traced_body, carry, slices,
                       {options.length, options.reverse, static_cast<int64_t>(options.unroll)}, {loc, paths});
      std::span<const detail::Handle> rest(handles);
      to_carry_t<S> carried = last.rebuild(rest);
      return std::pair{std::move(carried), ys.rebuild(rest)};
    }
  }
}

/// f of each slice along the leading dimension of the leaves of xs, with the results stacked along a new leading
/// dimension. Throws ShapeError when the leaves differ in their leading extent, have rank 0, or there are none;
/// LeakedTracerError outside a trace.
///     jit([](auto rows) { return map([](auto row) { return sum(row); }, rows); })(D{{1, 2}, {3, 4}})  // [3. 7.]
template <class F, class X>
auto map(const F& f, const X& xs, Loc loc = Loc::current()) {
  detail::check_rows<X>();
  using R = detail::body_t<F, X>;
  detail::check_rows<R>();
  detail::require_trace("map", loc);
  const std::vector<detail::Handle> slices = detail::operand_handles(loc, xs);
  detail::ResultTree<R> result("map", loc);
  const auto body = [&](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& outputs) {
    result.put(detail::call_with_handles(f, std::tie(xs), inputs), "the results of two iterations", outputs);
  };
  const std::vector<std::string> paths = detail::leaf_paths(xs);
  const std::vector<detail::Handle> handles = detail::map(body, slices, {loc, paths});
  return result.rebuild(handles);
}

/// Options of `associative_scan`.
struct AssociativeOptions {
  /// Scan from the end: suffixes instead of prefixes.
  bool reverse = false;
  /// The dimension along which elements are combined.
  int axis = 0;
};

/// The prefixes x0, op(x0, x1), op(op(x0, x1), x2), ... of an associative operation along an axis, of the shapes of xs,
/// in at most 2 log2(n) calls of op on whole arrays. `op` takes two trees like xs, of any extent along the axis, and
/// returns one. Where its results depend on their elements alone, the last 128 elements of the recursion (16 if op
/// computes a mathematical function) are combined in a loop. Throws ShapeError when leaves differ in extent along the
/// axis, the axis is out of range, or op changes a shape; LeakedTracerError outside a trace.
///     jit([](auto x) { return associative_scan([](auto a, auto b) { return a * b; }, x); })(D{1, 2, 3, 4})
///     // [ 1.  2.  6. 24.]
template <class F, class X>
to_tracer_t<X> associative_scan(const F& op, const X& xs, AssociativeOptions options = {}, Loc loc = Loc::current()) {
  static_assert(std::same_as<detail::body_t<F, X, X>, to_tracer_t<X>>,
                "calque: associative_scan: the operation returns another type than its operands");
  detail::check_rows<X>();
  detail::require_trace("associative_scan", loc);
  detail::ResultTree<to_tracer_t<X>> result("associative_scan", loc);
  std::vector<detail::Handle> operands;
  result.put(detail::traced(xs, loc), "operands and result", operands);
  const auto combine = [&](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& outputs) {
    result.put(detail::call_with_handles(op, std::tie(xs, xs), inputs), "operands and result", outputs);
  };
  const std::vector<std::string> paths = detail::leaf_paths(xs);
  return result.rebuild(detail::associative_scan(combine, operands, options.reverse, options.axis, {loc, paths}));
}

}  // namespace calque
