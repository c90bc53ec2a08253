// The solvers of root, fixed_point, minimize_newton and cg, as loops of the running trace. Unknowns are one vector of
// one element type, of 16-bit floats f32; their derivative is that of the equation (emit_custom_root), whose system is
// solved with the Jacobian as a matrix.
#include <algorithm>
#include <cmath>
#include <limits>

#include "calque/detail/control/control.h"
#include "calque/detail/transforms/implicit.h"

#include "frontend/ops/common.h"
#include "frontend/transforms/common.h"
#include "frontend/transforms/implicit.h"

namespace calque::detail {
namespace {

using Handles = std::vector<Handle>;

/// A value with arithmetic that broadcasts.
struct Num {
  Handle h;
  Location at;
  operator Operand() const { return h; }  // NOLINT(google-explicit-constructor)
};
#define CALQUE_OPERATOR(op, function)                                                                       \
  [[maybe_unused]] Num operator op(Num x, Num y) { return {ops::function(x, y, x.at), x.at}; }              \
  [[maybe_unused]] Num operator op(Num x, double y) { return {ops::function(x, ops::lit(y), x.at), x.at}; } \
  [[maybe_unused]] Num operator op(double x, Num y) { return {ops::function(ops::lit(x), y, y.at), y.at}; }
CALQUE_OPERATOR(+, add)
CALQUE_OPERATOR(-, subtract)
CALQUE_OPERATOR(*, multiply)
CALQUE_OPERATOR(/, divide)
CALQUE_OPERATOR(<, less)
CALQUE_OPERATOR(<=, less_equal)
CALQUE_OPERATOR(>, greater)
CALQUE_OPERATOR(==, equal)
#undef CALQUE_OPERATOR
Num operator-(Num x) { return {ops::negative(x, x.at), x.at}; }
Num no(Num x) { return {ops::logical_not(x, x.at), x.at}; }
Num operator&(Num x, Num y) { return {ops::logical_and(x, y, x.at), x.at}; }
Num operator|(Num x, Num y) { return {ops::logical_or(x, y, x.at), x.at}; }
Num choose(Num condition, Num x, Num y) { return {ops::where(condition, x, y, x.at), x.at}; }
Num abs(Num x) { return {ops::abs(x, x.at), x.at}; }
bool is_scalar(Num x) { return ops::shape(x.h).rank() == 0; }
Num all(Num x) { return is_scalar(x) ? x : Num{ops::all(x, {}, false, x.at), x.at}; }
/// NaN if an element is.
Num max_norm(Num x) { return is_scalar(x) ? abs(x) : Num{ops::amax(abs(x), {}, false, x.at), x.at}; }
/// Unlike a product of vectors it is computed in the kernel that computes x and y.
Num dot(Num x, Num y) { return is_scalar(x) ? x * y : Num{ops::sum(x * y, {}, false, x.at), x.at}; }
Num product(Num a, Num b) { return is_scalar(a) ? a * b : Num{ops::matmul(a, b, a.at), a.at}; }
Num finite(Num x) { return max_norm(x) < INFINITY; }

double epsilon(DType d) {
  switch (d) {
    case DType::bf16:
      return 0x1p-7;
    case DType::f16:
      return 0x1p-10;
    case DType::f32:
      return std::numeric_limits<float>::epsilon();
    default:
      return std::numeric_limits<double>::epsilon();
  }
}

/// The leaves of a tree as one vector, or as a scalar if there is one element: solvers of numbers in a batch are then
/// loops of elements.
class Layout {
 public:
  Layout(std::vector<Type> leaves, const ops::Site& site) : leaves_(std::move(leaves)), site_(site) {
    dtype_ = DType::f32;
    for (const Type& leaf : leaves_) {
      if (leaf.dtype == DType::f64) dtype_ = DType::f64;
      size_ += leaf.shape.num_elements();
      epsilon_ = std::max(epsilon_, epsilon(leaf.dtype));
    }
  }
  int64_t size() const { return size_; }
  DType dtype() const { return dtype_; }
  /// Of the least precise leaf.
  double eps() const { return epsilon_; }
  const std::vector<Type>& leaves() const { return leaves_; }

  Num vector(std::span<const Handle> leaves) const {
    Handles parts;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (leaves_[i].shape.num_elements() == 0) continue;
      const Handle row = ops::reshape(leaves[i], Shape{leaves_[i].shape.num_elements()}, site_);
      parts.push_back(ops::convert(row, dtype_, site_));
    }
    const Handle all = parts.size() == 1 ? parts[0] : ops::concatenated(parts, 0, site_);
    return {size_ == 1 ? ops::reshape(all, Shape(), site_) : all, site_.at};
  }
  void append(Num vector, Handles& leaves) const {
    int64_t next = 0;
    for (const Type& leaf : leaves_) {
      const int64_t count = leaf.shape.num_elements();
      if (count == 0) {
        leaves.push_back(ops::splat(0, leaf, site_));
        continue;
      }
      const Handle part = count == size_ ? vector.h : ops::slice_axis(vector.h, 0, next, next + count, 1, site_);
      leaves.push_back(ops::convert(ops::reshape(part, leaf.shape, site_), leaf.dtype, site_));
      next += count;
    }
  }
  Handles parts(Num vector) const {
    Handles leaves;
    append(vector, leaves);
    return leaves;
  }

 private:
  std::vector<Type> leaves_;
  const ops::Site& site_;
  DType dtype_;
  int64_t size_ = 0;
  double epsilon_ = 0;
};

/// Closed graphs of (x..., others...) with their other operands, in the running trace.
struct Equations {
  Graph value;     ///< f
  Graph residual;  ///< what is to be zero
  Handles others;  ///< parameters and captures
};

/// The loops of a problem.
class Solver {
 public:
  Solver(Problem problem, const Equations& equations, const Layout& layout, const SolveOptions& options,
         const TransformSite& site)
      : problem_(problem),
        equations_(equations),
        layout_(layout),
        site_(site),
        tolerance_(options.tolerance ? *options.tolerance : std::pow(layout.eps(), 2.0 / 3.0)),
        steps_(options.max_iterations            ? *options.max_iterations
               : problem == Problem::fixed_point ? 1000
                                                 : 100) {}

  /// The last iterate, the residual, the number of steps, and whether it converged.
  Handles run(Num start) const {
    if (problem_ == Problem::fixed_point) return iterate(start);
    if (problem_ == Problem::minimum) return minimize(start);
    return newton(start);
  }

  /// The matrix of the derivatives of what is to be zero.
  Num jacobian(Num z) const {
    const TraceBody body = [&](std::span<const Handle> inputs, Handles& outputs) {
      outputs.push_back(residual({inputs[0], site_.location}).h);
    };
    const uint32_t selected[] = {0};
    const Handle operands[] = {z.h};
    return {emit_jacobian(true, body, operands, selected, {"the residual"}, {site_.name, site_.location, {}})[0],
            site_.location};
  }

  /// The d with a d = b.
  Num system(Num a, Num b) const {
    return is_scalar(a) ? b / a : Num{ops::linalg::solve(a, b, site_.location), site_.location};
  }

 private:
  Num graph(const Graph& g, Num z) const {
    return layout_.vector(emit_graph(g, concatenated(layout_.parts(z), equations_.others)));
  }
  Num residual(Num z) const { return graph(equations_.residual, z); }
  Num value(Num z) const {
    const ops::Site s{site_.name, site_.location};
    return {ops::convert(emit_graph(equations_.value, concatenated(layout_.parts(z), equations_.others))[0],
                         layout_.dtype(), s),
            site_.location};
  }

  Num number(double x) const { return splat(x, Shape()); }
  Num splat(double x, const Shape& shape) const {
    const ops::Site s{site_.name, site_.location};
    return {ops::splat(x, {layout_.dtype(), shape}, s), site_.location};
  }
  Num flag(bool b) const { return {literal(Literal::of<bool>(b), {DType::bool_, {}}, site_.location), site_.location}; }
  Num count(int n) const {
    return {literal(make_literal(DType::i32, int64_t{n}), {DType::i32, {}}, site_.location), site_.location};
  }

  using Step = std::function<std::vector<Num>(const std::vector<Num>&)>;
  using Condition = std::function<Num(const std::vector<Num>&)>;
  std::vector<Num> loop(const Condition& condition, const Step& step, const std::vector<Num>& initial) const {
    const auto numbers = [&](std::span<const Handle> handles) {
      std::vector<Num> list;
      for (Handle h : handles) list.push_back({h, site_.location});
      return list;
    };
    Handles carry;
    for (Num x : initial) carry.push_back(x.h);
    return numbers(while_loop(
        [&](std::span<const Handle> inputs, Handles& outputs) { outputs.push_back(condition(numbers(inputs)).h); },
        [&](std::span<const Handle> inputs, Handles& outputs) {
          for (Num x : step(numbers(inputs))) outputs.push_back(x.h);
        },
        carry, {site_.location, {}}));
  }

  /// Whether a step of this length, its maximum norm, is small enough to be the last one.
  Num is_small(Num length, Num z) const { return length <= tolerance_ * (1.0 + max_norm(z)); }
  /// Whether the residual is one that the rounding of z alone makes, so that no step can lessen it.
  Num is_rounding(Num r, Num j, Num z) const { return all(abs(r) <= (16 * layout_.eps()) * product(abs(j), abs(z))); }

  /// The longest of the steps d, d / 2, d / 4, ... that `accepted`(t, values there) accepts, and the values; t is 0 if
  /// none is. A residual of many unknowns is compiled once, in the loop, which then starts before the first step. Where
  /// the first step is before the loop, as for one unknown, a batch of searches need not enter the loop.
  std::vector<Num> search(Num z, Num d, const std::vector<Num>& values_at_z,
                          const std::function<std::vector<Num>(Num)>& values,
                          const std::function<Num(Num, const std::vector<Num>&)>& accepted) const {
    // t, whether it is accepted, z + t d, the values there
    const auto at = [&](Num t) {
      const Num moved = z + t * d;
      const std::vector<Num> there = values(moved);
      std::vector<Num> state{t, accepted(t, there), moved};
      state.insert(state.end(), there.begin(), there.end());
      return state;
    };
    std::vector<Num> initial{number(2), flag(false), z};
    initial.insert(initial.end(), values_at_z.begin(), values_at_z.end());
    if (is_scalar(z) || problem_ == Problem::minimum) initial = at(number(1));
    const std::vector<Num> end = loop([&](const std::vector<Num>& s) { return no(s[1]) & (s[0] > kShortest); },
                                      [&](const std::vector<Num>& s) { return at(0.5 * s[0]); }, initial);
    std::vector<Num> found{choose(end[1], end[0], number(0))};
    found.insert(found.end(), end.begin() + 2, end.end());
    return found;
  }

  /// The step along the gradient of the residual's sum of squares to its least by the linear model, for where the
  /// Jacobian is singular. `scaled` is the residual divided by `scale`.
  static Num steepest(Num j, Num scaled, Num scale) {
    const Num gradient = product(scaled, j), along = product(j, gradient);
    return gradient * (-scale * (dot(gradient, gradient) / dot(along, along)));
  }

  /// Newton's method on the residual, whose sum of squares each step lessens.
  Handles newton(Num start) const {
    const Num first = residual(start), norm = max_norm(first);
    // z, its residual, the residual's norm, steps, whether it goes on, whether it converged
    const std::vector<Num> end = loop(
        [&](const std::vector<Num>& s) { return s[4] & (s[3] < count(steps_)); },
        [&](const std::vector<Num>& s) {
          const Num z = s[0], r = s[1], scale = s[2], j = jacobian(z);
          const Num full = -system(j, r);
          const Num length = max_norm(full), regular = length < INFINITY;
          const Num last = regular & is_small(length, z), scaled = r / scale;
          const Num d = is_scalar(z) ? full : choose(regular, full, steepest(j, scaled, scale));
          const Num before = dot(scaled, scaled);
          const auto merit = [&](Num residual) { return dot(residual / scale, residual / scale); };
          const std::vector<Num> found = search(
              z, d, {r}, [&](Num moved) { return std::vector<Num>{residual(moved)}; },
              [&](Num t, const std::vector<Num>& v) { return last | (merit(v[0]) <= (1.0 - 2e-4 * t) * before); });
          const Num moved = found[0] > 0.0, next = choose(moved, found[2], r), next_norm = max_norm(next);
          const Num solved = (last & (next_norm < INFINITY)) | (next_norm == 0.0) | (no(moved) & is_rounding(r, j, z));
          return std::vector<Num>{choose(moved, found[1], z), next,  next_norm, s[3] + count(1),
                                  no(last | solved) & moved,  solved};
        },
        {start, first, norm, count(0), no(norm == 0.0), norm == 0.0});
    return ending(end[0], end[2], end[3], end[5]);
  }

  /// The step to the least of a quadratic function whose Hessian, if it is not positive definite, has a multiple of the
  /// identity added (of one unknown, its magnitude), and whether it is.
  std::vector<Num> descent(Num hessian, Num gradient) const {
    if (is_scalar(hessian)) {
      return {-gradient / choose(hessian == 0.0, number(1), abs(hessian)), hessian > 0.0};
    }
    const Num identity{ops::eye(layout_.dtype(), layout_.size(), site_.location), site_.location};
    const auto factor = [&](Num a) { return Num{ops::linalg::cholesky(a, site_.location), site_.location}; };
    const Num greatest = max_norm(hessian), least = 1e-3 * choose(greatest > 0.0, greatest, number(1));
    // the factor, how many times the least is added: 1, 10, 100, ..., or not yet if below 1
    const std::vector<Num> factored =
        loop([&](const std::vector<Num>& l) { return no(finite(l[0])) & (l[1] < 1e6); },
             [&](const std::vector<Num>& l) {
               const Num times = 10.0 * l[1];
               return std::vector<Num>{factor(hessian + (times * least) * identity), times};
             },
             {factor(hessian), number(0.1)});
    return {-Num{ops::linalg::cho_solve(factored[0], gradient, site_.location), site_.location}, factored[1] < 1.0};
  }

  /// Newton's method on the gradient; each step lessens the value by Armijo's rule, or by no more than its rounding.
  Handles minimize(Num start) const {
    const Num first = residual(start);
    // z, its value, its gradient, steps, whether it goes on, whether it converged
    const std::vector<Num> end = loop(
        [&](const std::vector<Num>& c) { return c[4] & (c[3] < count(steps_)); },
        [&](const std::vector<Num>& c) {
          const Num z = c[0], value_there = c[1], g = c[2], hessian = jacobian(z);
          const std::vector<Num> step = descent(hessian, g);
          const Num d = step[0], last = step[1] & is_small(max_norm(d), z);
          const Num slope = dot(g, d), slack = (8 * layout_.eps()) * abs(value_there);
          const std::vector<Num> found = search(
              z, d, {value_there}, [&](Num moved) { return std::vector<Num>{value(moved)}; },
              [&](Num t, const std::vector<Num>& v) {
                return last | (v[0] <= value_there + 1e-4 * t * slope + slack);
              });
          const Num moved = found[0] > 0.0, to = choose(moved, found[1], z), next = residual(to);
          const Num solved = (last & finite(next)) | (max_norm(next) == 0.0) | (no(moved) & is_rounding(g, hessian, z));
          return std::vector<Num>{
              to, choose(moved, found[2], value_there), next, c[3] + count(1), no(last | solved) & moved, solved};
        },
        {start, value(start), first, count(0), no(max_norm(first) == 0.0), max_norm(first) == 0.0});
    return ending(end[0], max_norm(end[2]), end[3], end[5]);
  }

  /// x = f(x) until it hardly changes.
  Handles iterate(Num start) const {
    // z, how much the last step changed it, steps, whether it goes on, whether it converged
    const std::vector<Num> end =
        loop([&](const std::vector<Num>& s) { return s[3] & (s[2] < count(steps_)); },
             [&](const std::vector<Num>& s) {
               const Num z = s[0], next = graph(equations_.value, z), change = next - z;
               const Num length = max_norm(change), solved = is_small(length, next);
               return std::vector<Num>{next, length, s[2] + count(1), no(solved) & (length < INFINITY), solved};
             },
             {start, number(INFINITY), count(0), flag(true), flag(false)});
    return ending(end[0], end[1], end[2], end[4]);
  }

  Handles ending(Num z, Num residual, Num steps, Num solved) const {
    const ops::Site s{site_.name, site_.location};
    return {z.h, ops::convert(residual.h, DType::f64, s), steps.h, solved.h};
  }

  static constexpr double kShortest = 0x1p-30;

  Problem problem_;
  const Equations& equations_;
  const Layout& layout_;
  TransformSite site_;
  double tolerance_;
  int steps_;
};

void check_options(const SolveOptions& options, const TransformSite& site) {
  if (options.tolerance && !(*options.tolerance >= 0)) {
    throw ShapeError(std::string(site.name) + ": the tolerance must not be negative, got " +
                     std::to_string(*options.tolerance) + where(site));
  }
  if (options.max_iterations && *options.max_iterations < 1) {
    throw ShapeError(std::string(site.name) + ": max_iterations must be positive, got " +
                     std::to_string(*options.max_iterations) + where(site));
  }
}

void require_real_floats(std::span<const Type> types, const TransformSite& site) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (is_floating(types[i].dtype)) continue;
    throw DTypeError(std::string(site.name) + ": " + path_of(site, i) + " is " + to_string(types[i]) +
                     (is_complex(types[i].dtype) ? ", but must be real; solve for its real and its imaginary part"
                                                 : ", but must be of floats, such as 1.0") +
                     where(site));
  }
}

/// What is to be zero and what it is made of, of x, parameters and captures.
Equations equations_of(Problem problem, BodyRef body, std::span<const Handle> operands, size_t unknowns,
                       const std::vector<std::string>& results, const TransformSite& site) {
  const std::vector<Type> types = types_of(operands, site.location);
  const std::span<const Type> x = std::span(types).first(unknowns);
  const TraceResult f = trace_symbolically(body, types, site);
  Equations equations{f.graph, f.graph, Handles(operands.begin() + static_cast<ptrdiff_t>(unknowns), operands.end())};
  equations.others.insert(equations.others.end(), f.captures.begin(), f.captures.end());
  const std::vector<Type> got = f.graph.output_types();
  if (problem != Problem::minimum) {
    require_results(got, x, "f's result", "x0", results, site);
  } else if (got[0].shape.rank() != 0 || !is_floating(got[0].dtype)) {
    const std::string text = std::string(site.name) + ": f must return a real floating scalar, got " +
                             to_string(got[0]) + (got[0].shape.rank() == 0 ? "" : "; reduce it, for example with sum") +
                             where(site);
    if (got[0].shape.rank() != 0) throw ShapeError(text);
    throw DTypeError(text);
  }
  if (problem == Problem::root) return equations;
  const std::vector<Type> all = f.graph.input_types();
  const ops::Site s{site.name, site.location};
  const TraceBody residual = [&](std::span<const Handle> inputs, Handles& outputs) {
    if (problem == Problem::fixed_point) {
      const Handles values = emit_graph(f.graph, inputs);
      for (size_t i = 0; i < unknowns; ++i) outputs.push_back(ops::emit<ops::prim::Sub>(s, {inputs[i], values[i]}));
      return;
    }
    std::vector<uint32_t> selected(unknowns);
    for (size_t i = 0; i < unknowns; ++i) selected[i] = static_cast<uint32_t>(i);
    const TraceBody value = [&](std::span<const Handle> operands, Handles& values) {
      values = emit_graph(f.graph, operands);
    };
    outputs = emit_gradients(value, inputs, selected, false, site);
  };
  equations.residual = trace_symbolically(residual, all, site).graph;
  return equations;
}

}  // namespace

std::vector<Handle> emit_solution(Problem problem, BodyRef body, std::span<const Handle> operands, size_t unknowns,
                                  const std::vector<std::string>& results, const SolveOptions& options, bool keep,
                                  const TransformSite& site) {
  check_options(options, site);
  const std::vector<Type> x = types_of(operands.first(unknowns), site.location);
  require_real_floats(x, site);
  const Equations equations = equations_of(problem, body, operands, unknowns, results, site);
  const ops::Site s{site.name, site.location};
  const Layout layout(x, s);
  if (layout.size() == 0) {  // nothing to solve for
    Handles nothing(operands.begin(), operands.begin() + static_cast<ptrdiff_t>(unknowns));
    nothing.push_back(ops::splat(0, {DType::f64, {}}, s));
    nothing.push_back(ops::splat(0, {DType::i32, {}}, s));
    nothing.push_back(literal(Literal::of<bool>(true), {DType::bool_, {}}, site.location));
    return nothing;
  }

  const TraceBody residual = [&](std::span<const Handle> inputs, Handles& outputs) {
    outputs = emit_graph(equations.residual, concatenated(inputs, equations.others));
  };
  const TraceBody solve = [&](std::span<const Handle> inputs, Handles& outputs) {
    const Solver solver(problem, equations, layout, options, site);
    const Handles end = solver.run(layout.vector(inputs));
    Num z{end[0], site.location};
    if (!keep) {
      z = choose({end[3], site.location}, z, {ops::splat(NAN, {layout.dtype(), {}}, s), site.location});
    }
    layout.append(z, outputs);
    outputs.insert(outputs.end(), end.begin() + 1, end.end());
  };
  const TraceBody tangent_solve = [&](std::span<const Handle> inputs, Handles& outputs) {
    const Solver solver(problem, equations, layout, options, site);
    const Num matrix = solver.jacobian(layout.vector(inputs.subspan(unknowns)));
    layout.append(solver.system(matrix, layout.vector(inputs.first(unknowns))), outputs);
  };
  return emit_custom_root(residual, solve, tangent_solve, operands.first(unknowns), results, site);
}

std::vector<Handle> emit_conjugate_gradients(BodyRef matvec, std::span<const Handle> b,
                                             const std::vector<std::string>& results, const SolveOptions& options,
                                             const TransformSite& site) {
  check_options(options, site);
  const std::vector<Type> types = types_of(b, site.location);
  require_real_floats(types, site);
  const ops::Site s{site.name, site.location};
  const Layout layout(types, s);
  if (layout.size() == 0) return {b.begin(), b.end()};
  const double tolerance = options.tolerance ? *options.tolerance : std::pow(layout.eps(), 2.0 / 3.0);
  const int64_t steps = options.max_iterations ? *options.max_iterations : 10 * layout.size();
  const TraceResult traced = trace_symbolically(matvec, types, site);
  require_results(traced.graph.output_types(), types, "matvec's result", "b", results, site);
  const TraceBody product = [&](std::span<const Handle> inputs, Handles& outputs) {
    outputs = emit_graph(traced.graph, concatenated(inputs, traced.captures));
  };
  const TraceBody solve = [&](std::span<const Handle> inputs, Handles& outputs) {
    const Location at = site.location;
    const Num side = layout.vector(inputs);
    // Scaled, so that sums of squares neither overflow nor vanish.
    const Num norm = max_norm(side), scale = choose(norm > 0.0, norm, norm + 1.0);
    const Num scaled = side / scale, enough = (tolerance * tolerance) * dot(scaled, scaled);
    const auto applied = [&](Num p) {
      return layout.vector(emit_graph(traced.graph, concatenated(layout.parts(p), traced.captures)));
    };
    // x, residual, direction, the residual's sum of squares, steps
    const Handle initial[] = {(0.0 * scaled).h, scaled.h, scaled.h, dot(scaled, scaled).h,
                              literal(make_literal(DType::i64, int64_t{0}), {DType::i64, {}}, at)};
    const auto number = [&](Handle h) { return Num{h, at}; };
    const Handles end = while_loop(
        [&](std::span<const Handle> c, Handles& goes_on) {
          const Handle below = ops::less(c[4], ops::lit(static_cast<double>(steps)), at);
          goes_on.push_back(((number(c[3]) > enough) & number(below)).h);
        },
        [&](std::span<const Handle> c, Handles& next) {
          const Num x = number(c[0]), r = number(c[1]), p = number(c[2]), squares = number(c[3]);
          const Num ap = applied(p), step = squares / dot(p, ap);
          const Num rest = r - step * ap, now = dot(rest, rest);
          const Num direction = rest + (now / squares) * p;
          next = {(x + step * p).h, rest.h, direction.h, now.h, ops::add(c[4], ops::lit(1), at)};
        },
        initial, {at, {}});
    const Num nan{ops::splat(NAN, {layout.dtype(), {}}, s), at};
    layout.append(choose(number(end[3]) <= enough, scale * number(end[0]), nan), outputs);
  };
  const TransposedSystem same{product, solve};
  return emit_linear_solve(product, solve, &same, b, results, site);
}

}  // namespace calque::detail
