// Random stacks of transformations over random graphs. Each intermediate graph verifies, round-trips through its text,
// and is compared with the one it was made from: derivatives by inner products (valid whatever derivative is chosen at
// kinks) and differences, batches by loops. CALQUE_TEST_SEEDS is the number of graphs.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>

#include "calque/detail/trace.h"

#include "primitives/list.h"
#include "reference/evaluate.h"
#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/same_arrays.h"
#include "support/sanitizers.h"
#include "support/transforms.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/vjp.h"
#include "transform/batch/vmap.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using Arrays = std::vector<AnyArray>;
using Axes = std::vector<BatchAxis>;

uint64_t num_seeds(uint64_t usual) {
  if (const char* text = std::getenv("CALQUE_TEST_SEEDS")) return std::strtoull(text, nullptr, 10);
  return kAddressSanitizer || kThreadSanitizer ? usual / 8 : usual;
}

/// Graphs of few equations, whose values stay moderate, without custom rules that are not derivatives.
RandomGraphOptions options(bool discontinuous) {
  RandomGraphOptions o;
  o.max_equations = 24;
  o.max_rank = 3;
  o.max_elements = 60;
  o.dtypes = {DType::f64, DType::f64, DType::f64, DType::i32, DType::bool_};
  o.discontinuous = discontinuous;
  o.corners = false;
  o.exclude = {"custom_jvp", "custom_vjp", "nextafter", "zeta", "while"};
  return o;
}

Arrays inputs_of(const Graph& g, uint64_t seed) { return random_inputs(g, seed, false); }

// ---- transformations

/// The sum of all floating outputs.
Graph scalar_valued(const Graph& g) {
  Graph out;
  std::vector<Value> inputs;
  for (const Type& t : g.input_types()) inputs.push_back(out.add_input(t));
  const Equation& call =
      out.append(primitives::get<primitives::Call>(), ValueList(inputs), {{"name", std::string("f")}}, {g});
  const std::vector<Value> results(call.results().begin(), call.results().end());
  Value sum = out.add_literal(make_literal(DType::f64, 0.0), {DType::f64, {}});
  for (const Value v : results) {
    if (out.dtype(v) != DType::f64) continue;
    std::vector<int64_t> axes;
    for (int64_t d = 0; d < out.shape(v).rank(); ++d) axes.push_back(d);
    const Value one = out.append(primitives::get<primitives::ReduceSum>(), {v}, {{"axes", axes}}).result();
    sum = out.append(primitives::get<primitives::Add>(), {sum, one}).result();
  }
  out.set_outputs({sum});
  return out;
}

/// The graph's gradient by its floating inputs.
Graph gradient(const Graph& g) {
  const Graph pulled = transform::vjp(g, inexact_inputs(g));
  const auto body = [&](std::span<const detail::Handle> in, std::vector<detail::Handle>& out) {
    std::vector<detail::Handle> operands(in.begin(), in.end());
    operands.push_back(detail::literal(make_literal(DType::f64, 1.0), {DType::f64, {}}, {}));
    out = detail::emit_graph(pulled, operands);
    out.erase(out.begin());
  };
  return transform::simplify(detail::trace_graph("grad", g.input_types(), body).graph, transform::InlineScope::calls);
}

template <class P>
Graph wrapped(const Graph& g) {
  Graph out;
  ValueList inputs;
  for (const Type& t : g.input_types()) inputs.push_back(out.add_input(t));
  Attributes attributes;
  if (std::is_same_v<P, primitives::Call>) attributes.set("name", std::string("f"));
  const Equation& e = out.append(primitives::get<P>(), inputs, std::move(attributes), {g});
  out.set_outputs(std::vector<Value>(e.results().begin(), e.results().end()));
  return out;
}

using Handles = std::vector<detail::Handle>;

/// A graph of these inputs that calls other graphs.
template <class Body>
Graph written(const std::vector<Type>& inputs, Body body) {
  return detail::trace_graph("rule", inputs, [&](std::span<const detail::Handle> in, Handles& out) { out = body(in); })
      .graph;
}

std::vector<Type> concatenated(std::vector<Type> a, const std::vector<Type>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A graph of one equation on the graph's inputs.
template <class P>
Graph equation_of(const std::vector<Type>& inputs, std::vector<Graph> subgraphs) {
  Graph out;
  ValueList operands;
  for (const Type& t : inputs) operands.push_back(out.add_input(Type(t)));
  const Equation& e = out.append(primitives::get<P>(), operands, {}, std::move(subgraphs));
  out.set_outputs(std::vector<Value>(e.results().begin(), e.results().end()));
  return out;
}

/// The graph with its own derivative as the rule of custom_jvp.
Graph with_own_jvp(const Graph& g) {
  const std::vector<bool> active = inexact_inputs(g);
  const Graph pushed = transform::jvp(g, active);
  const std::vector<Type> types = g.input_types();
  Graph rule = written(concatenated(types, types), [&](std::span<const detail::Handle> in) {
    Handles given(in.begin(), in.begin() + std::ssize(types));
    for (size_t i = 0; i < types.size(); ++i) {
      if (active[i]) given.push_back(in[types.size() + i]);
    }
    return detail::emit_graph(pushed, given);
  });
  return equation_of<primitives::CustomJvp>(types, {g, std::move(rule)});
}

/// The graph with its own derivative as the rule of custom_vjp: the residuals are the inputs.
Graph with_own_vjp(const Graph& g) {
  const std::vector<bool> wrt(g.inputs().size(), true);
  const Graph pulled = transform::vjp(g, wrt);
  const std::vector<Type> types = g.input_types();
  Graph fwd = written(types, [&](std::span<const detail::Handle> in) {
    Handles out = detail::emit_graph(g, in);
    out.insert(out.end(), in.begin(), in.end());
    return out;
  });
  Graph bwd = written(concatenated(types, g.output_types()), [&](std::span<const detail::Handle> in) {
    Handles out = detail::emit_graph(pulled, in);
    out.erase(out.begin(), out.begin() + std::ssize(g.outputs()));
    return out;
  });
  return equation_of<primitives::CustomVjp>(types, {g, std::move(fwd), std::move(bwd)});
}

/// A random graph under nested transformations.
class Stack {
 public:
  Stack(uint64_t seed, bool discontinuous)
      : rng_(seed + 1), seed_(seed), graph_(random_graph(seed, options(discontinuous))) {}

  const Graph& graph() const { return graph_; }
  const std::string& names() const { return names_; }
  bool has_floats() const {
    const auto is_floating_value = [&](Value v) { return is_inexact(graph_.dtype(v)); };
    return std::ranges::any_of(graph_.inputs(), is_floating_value) &&
           std::ranges::any_of(graph_.outputs(), is_floating_value);
  }

  /// Applies a random transformation. Returns an error message, or nothing.
  std::string push() {
    constexpr const char* kNames[] = {"jvp", "vjp", "grad", "vmap", "vmap", "jit", "checkpoint", "custom_jvp"};
    const std::string name = rng_.pick(kNames);
    names_ = name + (names_.empty() ? "" : " of ") + names_;
    const Graph before = name == "grad" ? scalar_valued(graph_) : graph_;
    std::string wrong;
    try {
      graph_ = name == "vmap" ? batched(before, wrong) : transformed(name, before);
      graph_.verify(name);
      if (wrong.empty()) wrong = compare(name, before);
    } catch (const std::exception& e) {
      wrong = std::string("threw ") + e.what();
    }
    if (wrong.empty() && !(parse(print(graph_)) == graph_)) wrong = "the text is that of another graph";
    if (wrong.empty()) return {};
    std::ostringstream out;
    out << names_ << ", seed " << seed_ << ": " << wrong << "\n" << before << "became\n" << graph_;
    return out.str();
  }

 private:
  static Graph transformed(const std::string& name, const Graph& g) {
    if (name == "jvp") return transform::jvp(g, inexact_inputs(g));
    if (name == "vjp") return transform::vjp(g, inexact_inputs(g));
    if (name == "grad") return gradient(g);
    if (name == "jit") return wrapped<primitives::Call>(g);
    if (name == "custom_jvp") return with_own_jvp(g);
    return wrapped<primitives::Checkpoint>(g);
  }

  Graph batched(const Graph& g, std::string& wrong) {
    Axes in_axes, out_axes;
    const size_t certain = g.inputs().empty() ? 0 : rng_.below(g.inputs().size());
    for (size_t i = 0; i < g.inputs().size(); ++i) {
      const int rank = g.shape(g.inputs()[i]).rank();
      in_axes.push_back(i == certain || rng_.chance(60) ? BatchAxis(rng_.between(0, rank)) : BatchAxis());
    }
    for (const Value v : g.outputs()) out_axes.emplace_back(rng_.between(0, g.shape(v).rank()));
    const int64_t size = rng_.between(1, 3);
    Graph out = transform::vmap(g, in_axes, size, out_axes);
    const Arrays x = inputs_of(out, seed_);
    const Arrays want = looped(g, x, in_axes, size, out_axes);
    wrong = far_apart(reference::evaluate(out, x), want, 1e-12, 1e-13 * largest(want));
    if (!wrong.empty()) wrong += ", in_axes " + axes_text(in_axes) + ", out_axes " + axes_text(out_axes);
    return out;
  }

  std::string compare(const std::string& name, const Graph& before) {
    if (name == "vmap") return {};
    const Arrays x = inputs_of(before, seed_);
    const Arrays values = reference::evaluate(before, x);
    if (name == "jit" || name == "checkpoint" || name == "custom_jvp")
      return difference(reference::evaluate(graph_, x), values);
    if (!moderate(values) || !moderate(derivatives(before, x))) return {};
    return transposition_error(before, x, rng_, 1e-8);
  }

  static bool moderate(const Arrays& arrays) { return all_finite(arrays) && largest(arrays) < 1e6; }

  /// Derivatives in both modes. At the edge of a domain they are not finite, and their products with zeros are NaN in
  /// only one mode.
  Arrays derivatives(const Graph& g, const Arrays& x) {
    const std::vector<bool> active = inexact_inputs(g);
    Arrays tangents = x, cotangents = x;
    for (const AnyArray& v : select(uniform(g.input_types(), rng_), active)) tangents.push_back(v);
    for (const AnyArray& v : uniform(g.output_types(), rng_)) cotangents.push_back(v);
    Arrays all = reference::evaluate(transform::jvp(g, active), tangents);
    for (const AnyArray& a : reference::evaluate(transform::vjp(g, active), cotangents)) all.push_back(a);
    return all;
  }

  Rng rng_;
  uint64_t seed_;
  Graph graph_;
  std::string names_;
};

TEST(RandomTransforms, HoldAgainstWhatTheyStandFor) {
  int stacks = 0;
  for (uint64_t seed = 0, end = num_seeds(3000); seed < end; ++seed) {
    Stack stack(seed, seed % 2 == 0);
    if (!stack.has_floats()) continue;
    const size_t depth = 1 + seed % 3;
    for (size_t i = 0; i < depth; ++i) ASSERT_EQ(stack.push(), "");
    ++stacks;
  }
  EXPECT_GT(stacks, static_cast<int>(num_seeds(3000) / 3));
}

TEST(RandomTransforms, SimplifyToTheSameResults) {
  for (uint64_t seed = 0, end = num_seeds(1500); seed < end; ++seed) {
    Stack stack(seed, seed % 2 == 0);
    if (!stack.has_floats()) continue;
    for (size_t i = 0; i < 1 + seed % 2; ++i) ASSERT_EQ(stack.push(), "");
    const Arrays x = inputs_of(stack.graph(), seed);
    const Arrays want = reference::evaluate(stack.graph(), x);
    for (const auto scope : {transform::InlineScope::calls, transform::InlineScope::all}) {
      const Graph small = transform::simplify(stack.graph(), scope);
      small.verify("simplify");
      ASSERT_EQ(difference(reference::evaluate(small, x), want), "") << stack.names() << ", seed " << seed << "\n"
                                                                     << stack.graph() << "became\n"
                                                                     << small;
    }
  }
}

TEST(RandomTransforms, CompiledAgreeWithTheReference) {
  int compared = 0;
  for (uint64_t seed = 0, end = num_seeds(160); seed < end; ++seed) {
    Stack stack(seed, false);
    if (!stack.has_floats()) continue;
    for (size_t i = 0; i < 1 + seed % 3; ++i) ASSERT_EQ(stack.push(), "");
    const Arrays x = inputs_of(stack.graph(), seed);
    const Arrays want = reference::evaluate(stack.graph(), x);
    if (!all_finite(want) || largest(want) > 1e6) continue;
    std::string wrong;
    try {
      wrong = far_apart(run_native(stack.graph(), x), want, 1e-9, 1e-9 * (1 + largest(want)));
    } catch (const Error& e) {
      wrong = std::string("threw ") + e.what();
    }
    ASSERT_EQ(wrong, "") << stack.names() << ", seed " << seed << "\n" << stack.graph();
    ++compared;
  }
  EXPECT_GT(compared, static_cast<int>(num_seeds(160) / 4));
}

/// Where the graph is smooth near the point, forward mode equals finite differences.
TEST(RandomTransforms, ForwardModeEqualsDifferencesWhereSmooth) {
  int compared = 0;
  for (uint64_t seed = 0, end = num_seeds(2000); seed < end; ++seed) {
    RandomGraphOptions smooth = options(false);
    smooth.exclude.emplace_back("stop_gradient");
    smooth.exclude.emplace_back("clamp");  // clamp(x, x, x) is smooth, and its bounds are not
    smooth.exclude.emplace_back("hypot");  // min(hypot(x, x), x) is smooth at 0, and hypot is not
    smooth.exclude.erase(std::ranges::find(smooth.exclude, "while"));
    const Graph g = random_graph(seed, smooth);
    const std::vector<bool> active = inexact_inputs(g);
    if (std::ranges::count(active, true) == 0) continue;
    Rng rng(seed);
    Arrays x = inputs_of(g, seed);
    const Arrays v = select(uniform(g.input_types(), rng), active);
    const Arrays values = reference::evaluate(g, x);
    if (!all_finite(values) || largest(values) > 1e3 || !smooth_near(g, x, active, v, 1e-7)) continue;
    const Graph pushed = transform::jvp(g, active);
    for (const AnyArray& a : v) x.push_back(a);
    Arrays got = reference::evaluate(pushed, x);
    got.erase(got.begin(), got.begin() + std::ssize(g.outputs()));
    if (!all_finite(got)) continue;  // x * cbrt(x) at 0: smooth, but composed of functions that are not
    x.resize(g.inputs().size());
    const Arrays want = differences(g, x, active, v);
    ASSERT_EQ(far_apart(got, want, 1e-6, 1e-7 * (1 + largest(want))), "") << "seed " << seed << "\n"
                                                                          << g << "became\n"
                                                                          << pushed;
    ++compared;
  }
  EXPECT_GT(compared, static_cast<int>(num_seeds(2000) / 4));
}

TEST(RandomTransforms, OwnDerivativesAsRulesOfCustomVjpChangeNothing) {
  for (uint64_t seed = 0, end = num_seeds(600); seed < end; ++seed) {
    const Graph g = random_graph(seed, options(true));
    if (g.inputs().empty()) continue;
    const Graph custom = with_own_vjp(g);
    Axes in_axes(g.inputs().size(), BatchAxis(0)), out_axes(g.outputs().size(), BatchAxis(0));
    const std::pair<Graph, Graph> pairs[] = {
        {g, custom},
        {transform::vmap(g, in_axes, 2, out_axes), transform::vmap(custom, in_axes, 2, out_axes)},
    };
    for (const auto& [plain, with_rule] : pairs) {
      const std::vector<bool> wrt = inexact_inputs(plain);
      const Graph want = transform::vjp(plain, wrt), got = transform::vjp(with_rule, wrt);
      got.verify("vjp");
      Rng rng(seed);
      Arrays x = inputs_of(plain, seed);
      for (const AnyArray& v : uniform(plain.output_types(), rng)) x.push_back(v);
      const Arrays derivatives = reference::evaluate(want, x), with = reference::evaluate(got, x);
      if (!all_finite(derivatives) || !all_finite(with)) continue;  // zero times infinity is not zero
      ASSERT_EQ(far_apart(with, derivatives, 1e-9, 1e-11 * (1 + largest(derivatives))), "") << "seed " << seed << "\n"
                                                                                            << with_rule << "became\n"
                                                                                            << got;
    }
  }
}

}  // namespace
}  // namespace calque::test
