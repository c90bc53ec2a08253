#pragma once
// Cost functors, `template <class T> bool operator()(const T* a, const T* b, T* residuals) const`, as functions of
// arrays. The text of such a functor, which fitting programs have by the dozen, stays as it is: it is called with
// pointers to scalar tracers.
#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/derivatives.h"
#include "calque/detail/transforms/gradient.h"
#include "calque/functions.h"
#include "calque/jacobians.h"
#include "calque/vmap.h"

namespace calque {
namespace detail {

/// The elements of the block at this position among the arguments, each a scalar. Throws ShapeError for a rank above 1.
std::vector<Handle> block_elements(Handle block, size_t position, Location location);
/// The residuals as one vector. Throws Error for one that was never assigned, ShapeError for one that is no scalar.
Handle pack_residuals(std::span<const Handle> residuals, DType dtype, Location location);
/// Throws Error if one of the residuals behind the last was assigned. count: the number of residuals.
void check_past_residuals(std::span<const Handle> past, int64_t count, Location location);
/// Elements behind the last that a functor may take, so that reading or writing them is an error that is seen.
inline constexpr size_t kPastElements = 256;
/// An element behind the last of a block of this size, -1 of a block that was not given. Operations throw for it.
inline Handle past_element(size_t index, int64_t size) {
  return {static_cast<uint32_t>(index), static_cast<uint32_t>(size + 1), 0};
}
/// The residuals where the functor returned false: NaN where that depends on data, else throws Error.
Handle failed_residuals(DType dtype, int64_t count, Location location);

/// The block as a tracer: an Eigen vector of tracers is packed.
template <class B>
auto block_tracer(const B& block, Loc location) {
  if constexpr (TracerLike<B>) {
    return block;
  } else if constexpr (dense<B>::value) {
    return dense<B>::pack(block, location);
  } else {
    static_assert(TracerLike<B>,
                  "calque: the blocks of a cost functor are arrays of numbers, numbers, or vectors of Eigen; the first "
                  "argument of cq::functor<R>() is the functor");
    return Tracer<double>();
  }
}
template <class B>
using block_tracer_t = decltype(block_tracer(std::declval<const B&>(), Loc()));

/// x with elements of type T. (A cast to its own type would be a bound of rounding.)
template <class T, class X>
auto with_elements(const X& x, Loc location) {
  if constexpr (std::same_as<elem_t<X>, T>) {
    return x;
  } else {
    return cast<T>(x, location);
  }
}

template <class S, class B>
using pointer_to = const S*;

/// Calls a functor of any of its forms; false only where it returned false.
template <class S, class F, class... B>
auto call_functor(const F& f, std::vector<std::vector<S>>& blocks, S* residuals) {
  constexpr bool separate = std::is_invocable_v<const F&, pointer_to<S, B>..., S*>;
  constexpr bool as_list =
      !separate && std::is_invocable_v<std::conditional_t<separate, void, const F&>, const S* const*, S*>;
  static_assert(
      separate || as_list,
      "calque: functor: the functor cannot be called as const with a `const T*` for each of these blocks and a "
      "`T*` for the residuals, nor with `const T* const*` and `T*`");
  const auto call = [&](const auto&... arguments) {
    using Result = std::remove_cvref_t<decltype(f(arguments..., residuals))>;
    constexpr bool known = std::is_void_v<Result> || std::same_as<Result, bool> || std::same_as<Result, Tracer<bool>>;
    static_assert(known, "calque: functor: the functor must return bool or nothing, and write its residuals");
    if constexpr (std::is_void_v<Result>) {
      f(arguments..., residuals);
      return true;
    } else if constexpr (known) {
      return f(arguments..., residuals);
    } else {
      return true;
    }
  };
  if constexpr (separate) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return call(static_cast<const S*>(blocks[I].data())...);
    }(std::index_sequence_for<B...>{});
  } else if constexpr (as_list) {
    std::vector<const S*> list;
    for (const std::vector<S>& block : blocks) list.push_back(block.data());
    std::vector<S> missing;
    for (size_t i = 0; i < kPastElements; ++i) missing.push_back(S(past_element(i, -1)));
    list.resize(list.size() + kPastElements, missing.data());
    return call(static_cast<const S* const*>(list.data()));
  } else {
    return true;
  }
}

/// The residuals of a functor, of shape [count].
template <class F, class... B>
auto residuals_of(const F& f, int64_t count, Loc location, const B&... blocks) {
  using E = promoted_elem_t<block_tracer_t<B>...>;
  using S = Tracer<E>;
  static_assert(is_floating(dtype_of<E>), "calque: the blocks of a cost functor are of floating-point numbers");
  std::vector<std::vector<S>> elements;
  const auto add = [&](const auto& block) {
    auto& list = elements.emplace_back();
    for (const Handle h : block_elements(with_elements<E>(block, location).handle(), elements.size() - 1, location)) {
      list.push_back(S(h));
    }
    const size_t size = list.size();
    for (size_t i = size; i < size + kPastElements; ++i) {
      list.push_back(S(past_element(i, static_cast<int64_t>(size))));
    }
  };
  (add(block_tracer(blocks, location)), ...);
  std::vector<S> residuals(static_cast<size_t>(count) + kPastElements, S(Handle()));
  const auto defined = call_functor<S, F, B...>(f, elements, residuals.data());
  if constexpr (std::same_as<decltype(defined), const bool>) {
    if (!defined) return S(failed_residuals(dtype_of<E>, count, location));
  }
  std::vector<Handle> handles;
  for (const S& r : residuals) handles.push_back(r.handle());
  check_past_residuals(std::span(handles).subspan(static_cast<size_t>(count)), count, location);
  handles.resize(static_cast<size_t>(count));
  const S packed(pack_residuals(handles, dtype_of<E>, location));
  if constexpr (std::same_as<decltype(defined), const bool>) {
    return packed;
  } else {
    return where(defined, packed, std::numeric_limits<double>::quiet_NaN(), location);
  }
}

/// As Transformed, for functions that record operations by public functions.
template <class F>
struct WithLine {
  F function;
  Loc location;

  bool shares_compiled_forms() const { return shareable(function); }
};

/// A functor as a function of its blocks. R: the number of residuals, -1 if known at run time only.
template <int R, class F>
struct CostFunctor : WithLine<F> {
  int64_t count;

  static constexpr int num_data = 0;
  bool shares_compiled_forms() const { return R >= 0 && shareable(this->function); }

  template <class... B>
  auto operator()(const B&... blocks) const {
    static_assert(sizeof...(B) > 0, "calque: functor: give the blocks that the functor takes");
    return residuals_of(this->function, count, this->location, blocks...);
  }
};
/// The same of a functor that is the first argument.
template <int R>
struct CostFunctorArgument {
  Loc location;

  static constexpr int num_data = 1;
  static constexpr int64_t num_residuals = R;
  bool shares_compiled_forms() const { return true; }

  template <class F, class... B>
  auto operator()(const F& functor, const B&... blocks) const {
    static_assert(sizeof...(B) > 0, "calque: functor: give the blocks that the functor takes");
    return residuals_of(functor, R, location, blocks...);
  }
};

template <class F>
Callable<F> make_functor(F functor) {
  JitOptions options;
  options.name = "functor";
  options.branches = branches::all;
  const Loc location = functor.location;
  return Callable<F>(std::move(functor), std::move(options), location);
}
/// Throws Error for a number of residuals that is not positive.
int64_t checked_count(int64_t num_residuals, Location location);

/// The number of first arguments that are not blocks.
template <class G>
inline constexpr int num_data_of = 0;
template <class G>
  requires requires { G::num_data; }
inline constexpr int num_data_of<G> = G::num_data;
template <class G>
inline constexpr int num_data_of<Callable<G>> = num_data_of<G>;
template <class G>
inline constexpr int num_data_of<Jitted<G>> = num_data_of<G>;
/// The number of residuals, -1 if it is known only after a trace.
template <class G>
int64_t count_of(const G& g) {
  if constexpr (requires { g.count; }) {
    return g.count;
  } else if constexpr (requires { g.num_residuals; }) {
    return g.num_residuals;
  } else if constexpr (requires { count_of(g.function()); }) {
    return count_of(g.function());
  } else {
    return -1;
  }
}

/// Reverse mode, a row for each residual: the residuals and their Jacobians by the vectors x.
template <class R, class F, class... X>
std::pair<R, std::tuple<X...>> by_rows(const F& f, Loc location, const X&... x) {
  const auto linearized = vjp(f, x...);
  const auto rows = [&](const auto& direction) { return linearized.second(direction, location); };
  return {linearized.first,
          vmap(rows, {}, location)(calque::eye<elem_t<R>>(linearized.first.size(location), location))};
}
/// Forward mode, a column for each element of x.
template <class R, class F, class... X>
std::pair<R, std::tuple<X...>> by_columns(const F& f, int64_t size, Loc location, const X&... x) {
  int64_t first = 0;
  const auto basis = [&](const auto& block) {
    const int64_t begin = std::exchange(first, first + block.size(location));
    return calque::eye<elem_t<decltype(block)>>(size, location).at(all, range(begin, first));
  };
  const std::tuple directions{basis(x)...};
  const auto column = [&](const auto&... d) { return jvp(f, std::tuple{x...}, std::tuple{d...}, location); };
  const auto columns = vmap(column, {.out_axes = {none, 0}}, location);
  const auto result = std::apply([&](const auto&... d) { return columns(d...); }, directions);
  const auto jacobian = transpose(result.second, location);
  first = 0;
  const auto part = [&](const auto& block) {
    const int64_t begin = std::exchange(first, first + block.size(location));
    return with_elements<elem_t<decltype(block)>>(jacobian.at(all, range(begin, first)), location);
  };
  return {result.first, std::tuple<X...>{part(x)...}};
}

/// The elements of a vector, each a scalar.
template <class S, class X>
std::vector<S> scalars_of(const X& x, Loc location) {
  std::vector<S> elements;
  const auto vector = with_elements<elem_t<S>>(x, location);
  for (const Handle h : unpack_elements(vector.handle(), location)) elements.push_back(S(h));
  return elements;
}
/// Reverse mode of a function of few scalars, element by element: zeros are known while tracing, and in a batch each
/// entry is an expression over whole vectors, where rows of Jacobians would be short vectors in memory.
template <class R, class F, class... X>
std::pair<R, std::tuple<X...>> by_elements(const F& f, Loc location, const X&... x) {
  using S = Tracer<promoted_elem_t<X...>>;
  std::vector<S> all;
  const auto append = [&](const std::vector<S>& elements) { all.insert(all.end(), elements.begin(), elements.end()); };
  (append(scalars_of<S>(x, location)), ...);
  const auto of_elements = [&](const std::vector<S>& elements) {
    auto next = elements.begin();
    const auto block = [&](const auto& like) {
      const auto begin = std::exchange(next, next + like.size(location));
      return with_elements<elem_t<decltype(like)>>(stack(std::vector<S>(begin, next), 0, location), location);
    };
    const std::tuple<X...> blocks{block(x)...};
    return std::apply(f, blocks);
  };
  const auto scalars = [&](const std::vector<S>& elements) {
    return scalars_of<Tracer<elem_t<R>>>(of_elements(elements), location);
  };
  std::vector<S> entries;
  const auto rows = jacrev(scalars, location)(all);
  for (const auto& row : rows) {
    for (const auto& entry : row) entries.push_back(with_elements<elem_t<S>>(entry, location));
  }
  const size_t columns = all.size();
  size_t first = 0;
  const auto part = [&](const auto& like) {
    const size_t size = static_cast<size_t>(like.size(location)), begin = std::exchange(first, first + size);
    std::vector<S> own;
    for (size_t row = 0; row < rows.size(); ++row) {
      for (size_t i = 0; i < size; ++i) own.push_back(entries[row * columns + begin + i]);
    }
    return with_elements<elem_t<decltype(like)>>(reshape(stack(own, 0, location), {-1, like.size(location)}, location),
                                                 location);
  };
  return {f(x...), std::tuple<X...>{part(x)...}};
}

/// The residuals and their Jacobians by the blocks, which are tracers. count: the number of residuals, -1 if unknown.
template <class G, class... X>
auto residuals_and_jacobians_of(const G& g, int64_t count, Loc location, const X&... x) {
  // Of a scalar too the Jacobian has a column: it is differentiated as a vector.
  const auto of_vectors = [&](const auto&... flat) {
    const auto result = block_tracer(g(reshape(flat, x.shape(location), location)...), location);
    static_assert(is_floating(dtype_of<elem_t<decltype(result)>>),
                  "calque: residuals_and_jacobians: the residuals are floating-point numbers");
    return reshape(result, {-1}, location);
  };
  using R = std::remove_cvref_t<decltype(of_vectors(x...))>;
  const int64_t size = (x.size(location) + ...);
  constexpr int64_t kFewRows = 16, kFewEntries = 512;
  if (count > 0 && count <= std::min(size, kFewRows) && count * size <= kFewEntries) {
    return by_elements<R>(of_vectors, location, reshape(x, {-1}, location)...);
  }
  return count > size ? by_columns<R>(of_vectors, size, location, reshape(x, {-1}, location)...)
                      : by_rows<R>(of_vectors, location, reshape(x, {-1}, location)...);
}

template <class G>
struct ResidualsAndJacobians : WithLine<G> {
  template <class... A>
  auto operator()(const A&... arguments) const {
    if constexpr (num_data_of<G> == 0) {
      return differentiate(this->function, arguments...);
    } else {
      return behind_data(arguments...);
    }
  }

 private:
  template <class D, class... B>
  auto behind_data(const D& data, const B&... blocks) const {
    return differentiate([&](const auto&... x) { return inlined(this->function, data, x...); }, blocks...);
  }
  template <class F, class... B>
  auto differentiate(const F& f, const B&... blocks) const {
    static_assert(sizeof...(B) > 0, "calque: residuals_and_jacobians: give the blocks that the function takes");
    constexpr bool floating = (is_floating(dtype_of<elem_t<block_tracer_t<B>>>) && ...);
    static_assert(floating, "calque: residuals_and_jacobians: the blocks are of floating-point numbers");
    return residuals_and_jacobians_of([&](const auto&... x) { return inlined(f, x...); }, count_of(this->function),
                                      this->location, block_tracer(blocks, this->location)...);
  }
};

}  // namespace detail

/// A cost functor, as programs that fit models write it, as a function of its blocks, which returns R residuals: an
/// array [R] of the blocks' promoted type. The functor is called as const while tracing, with pointers to scalar
/// tracers in one of the forms
///   f(const T* a, const T* b, ..., T* residuals)      f(const T* const* blocks, T* residuals)
/// and is otherwise as it is: it can branch on values and map the pointers, as `Eigen::Map<const Eigen::Matrix<T, 3,
/// 1>>(a)`. Blocks are arrays of rank 1, numbers (of size 1) and vectors of Eigen. The functor's members are constants.
/// It returns true or nothing; where it returns false for some data the residuals there are NaN.
///
/// The function is called with data or in traces, and is transformed, as any. Called with data it follows all branches
/// of the functor; so does a `jit` around it with `{.branches = cq::branches::all}`.
/// Without f it is a function of a functor and its blocks, so that the functor's members are no constants. As a class
/// template over their type, without constructors, it is one functor for each observation under `vmap`:
///   template <class S> struct Line { S x, y;
///    template <class T> void operator()(const T* slope, T* r) const { r[0] = y - slope[0] * x; } };
///   auto residuals = cq::vmap(cq::functor<1>(), {.in_axes = {0, cq::none}});
///   residuals(Line<cq::Array<double>>{xs, ys}, slope);      // [n, 1]
/// (One that has constructors can be made of tracers in a lambda: `cq::functor<1>(Line(x, y))(slope)`.)
///
/// Throws Error when the functor returns false whatever the data, leaves a residual unassigned, writes more of them, or
/// reads more elements than a block has; ShapeError for a block of a higher rank. Compile errors: blocks of integers,
/// and a functor that does not take so many.
///     const auto rosenbrock = [](const auto* x, auto* residuals) {
///       residuals[0] = 10.0 * (x[1] - x[0] * x[0]);
///       residuals[1] = 1.0 - x[0];
///     };
///     functor<2>(rosenbrock)(D{-1, 2})  // [10.  2.]
template <int R, class F>
[[nodiscard("it returns a function: call it, as in functor<2>(f)(x)")]]
auto functor(F f, Loc loc = Loc::current()) {
  static_assert(R > 0, "calque: functor: a functor has at least one residual");
  return detail::make_functor(detail::CostFunctor<R, F>{{std::move(f), loc}, R});
}
/// The same for a number of residuals that is known at run time. Throws Error unless it is positive.
///     functor([](const auto* x, auto* r) { r[0] = 2.0 * x[0]; }, 1)(D{3})  // [6.]
template <class F>
[[nodiscard("it returns a function: call it, as in functor(f, n)(x)")]]
auto functor(F f, int64_t num_residuals, Loc loc = Loc::current()) {
  return detail::make_functor(
      detail::CostFunctor<-1, F>{{std::move(f), loc}, detail::checked_count(num_residuals, loc)});
}
// The function of a functor and its blocks that is described above.
template <int R>
[[nodiscard("it returns a function: call it, as in functor<2>()(f, x)")]]
auto functor(Loc loc = Loc::current()) {
  static_assert(R > 0, "calque: functor: a functor has at least one residual");
  return detail::make_functor(detail::CostFunctorArgument<R>{loc});
}

/// A function of the same blocks as g, which returns std::pair of g's result as a vector [R] and a std::tuple of its
/// Jacobians by the blocks, each of shape [R, size of the block] and the block's type. g is the result of `functor` (of
/// `functor<R>()` the first argument, the functor, has no Jacobian) or any function of arrays that returns an array.
/// One evaluation gives both: in reverse mode, but of a functor with more residuals than the blocks have elements in
/// forward mode. Derivatives of a functor with few residuals and elements are expressions of single elements, which is
/// what a `vmap` of it computes fastest.
/// Throws GradError as `vjp`; blocks and residuals that are no floating-point numbers are compile errors.
///     const auto product = functor<1>([](const auto* x, auto* r) { r[0] = x[0] * x[1]; });
///     residuals_and_jacobians(product)(D{2, 3}).first  // [6.]
template <class G>
[[nodiscard("it returns a function: call it, as in residuals_and_jacobians(g)(x)")]]
auto residuals_and_jacobians(G&& g, Loc loc = Loc::current()) {
  detail::ResidualsAndJacobians<std::decay_t<G>> f{{std::forward<G>(g), loc}};
  JitOptions options;
  options.name = "residuals_and_jacobians";
  options.branches = branches::all;
  return Callable<decltype(f)>(std::move(f), std::move(options), loc);
}

}  // namespace calque
