// Captured values are the last inputs of every graph here, and every transformation preserves that.
#include "calque/conformance/case_derivatives.h"

#include <algorithm>

#include "calque/detail/ops.h"
#include "calque/detail/trace.h"

#include "transform/autodiff/jvp.h"
#include "transform/autodiff/partial_eval.h"
#include "transform/autodiff/vjp.h"
#include "transform/batch/vmap.h"
#include "transform/simplify/simplify.h"

namespace calque::cli {
namespace {

namespace ops = detail::ops;
using detail::Handle;
using Handles = std::vector<Handle>;
using Types = std::vector<Type>;
using Step = TransformStep;

// ---- building graphs from graphs

Types concat(Types a, const Types& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Types capture_types(const CaseFunction& f) {
  const Types types = f.graph.input_types();
  return {types.begin() + static_cast<std::ptrdiff_t>(f.num_arguments()), types.end()};
}

/// The graph traced from `body`, which calls other graphs on its inputs.
template <class Body>
Graph build_graph(const Step& s, const Types& inputs, Body body) {
  const detail::TraceResult result = detail::trace_graph(
      s.kind, inputs, [&](std::span<const Handle> in, Handles& out) { out = body(Handles(in.begin(), in.end())); });
  return transform::simplify(result.graph, transform::InlineScope::calls);
}

Handles slice(const Handles& all, size_t first, size_t count) {
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {at, at + static_cast<std::ptrdiff_t>(count)};
}

Handles concat(Handles a, const Handles& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Handle splat(double number, const Type& type, Location at) {
  return detail::literal(make_literal(type.dtype, number), type, at);
}

/// The unit vectors of a type: [n] + shape.
Handle basis(const Type& type, Location at) {
  const int64_t n = type.shape.num_elements();
  const Shape shape = type.shape.with_inserted(0, n);
  return ops::reshape(ops::eye(type.dtype, n, at), shape.dims(), at);
}

Shape concatenated(const Shape& a, const Shape& b) {
  std::vector<int64_t> dims(a.begin(), a.end());
  dims.insert(dims.end(), b.begin(), b.end());
  return Shape(dims);
}

// ---- checks of differentiated arguments and results

/// The arguments to differentiate with respect to. Throws GradError for positions out of range or non-float arguments.
std::vector<size_t> argnums(const Step& s) {
  std::vector<size_t> numbers{0};
  if (s.json.contains("argnums")) numbers = s.json["argnums"].get<std::vector<size_t>>();
  for (const size_t n : numbers) {
    if (n >= s.num_arguments()) {
      s.grad_error("argument " + std::to_string(n) + " is asked for, the function has " +
                   std::to_string(s.num_arguments()));
    }
    const Type& type = s.graph().type(s.graph().inputs()[n]);
    if (!is_inexact(type.dtype)) {
      s.grad_error("argument " + std::to_string(n) + " must be floating or complex to be differentiated, got " +
                   to_string(type) + "; cast it");
    }
  }
  return numbers;
}

std::vector<bool> marked(const Step& s, const std::vector<size_t>& numbers) {
  std::vector<bool> flags(s.graph().inputs().size(), false);
  for (const size_t n : numbers) flags[n] = true;
  return flags;
}

/// All arguments, and no captures.
std::vector<bool> all_arguments(const Step& s) {
  std::vector<bool> flags(s.graph().inputs().size(), false);
  std::fill_n(flags.begin(), s.num_arguments(), true);
  return flags;
}

/// The index of the marked input `n` among the marked inputs.
size_t index_among_marked(const std::vector<bool>& flags, size_t n) {
  return static_cast<size_t>(std::count(flags.begin(), flags.begin() + static_cast<std::ptrdiff_t>(n), true));
}

void check_scalar_result(const Step& s) {
  const Types results = s.graph().output_types();
  if (results.size() != 1 && !(s.flag("has_aux") && !results.empty())) {
    s.grad_error("the function must have one result, got " + std::to_string(results.size()));
  }
  if (results[0].shape.rank() != 0 || !is_floating(results[0].dtype)) {
    s.grad_error("the function must return a real floating scalar, got " + to_string(results[0]));
  }
}

void check_real_results(const Step& s) {
  for (const Type& t : s.graph().output_types()) {
    if (!is_floating(t.dtype)) s.grad_error("the function must return real floating values, got " + to_string(t));
  }
}

void check_inexact_results(const Step& s) {
  for (const Type& t : s.graph().output_types()) {
    if (!is_inexact(t.dtype)) s.grad_error("the function must return floating or complex values, got " + to_string(t));
  }
}

}  // namespace

Types argument_types(const CaseFunction& f) {
  Types types = f.graph.input_types();
  types.resize(f.num_arguments());
  return types;
}

// ---- reverse and forward mode

Graph gradient_of(const Step& s) {
  check_scalar_result(s);
  const std::vector<size_t> numbers = argnums(s);
  const std::vector<bool> wrt = marked(s, numbers);
  const Graph pulled = transform::vjp(s.graph(), wrt);
  const Types results = s.graph().output_types();
  return build_graph(s, s.graph().input_types(), [&](Handles in) {
    for (size_t i = 0; i < results.size(); ++i) in.push_back(splat(i == 0 ? 1 : 0, results[i], s.at));
    const Handles all = detail::emit_graph(pulled, in);
    Handles out;
    if (s.kind == "value_and_grad") out.push_back(all[0]);
    for (const size_t n : numbers) out.push_back(all[results.size() + index_among_marked(wrt, n)]);
    return concat(out, slice(all, 1, results.size() - 1));
  });
}

Graph vjp_of(const Step& s) {
  const Graph pulled = transform::vjp(s.graph(), all_arguments(s));
  const size_t n = s.num_arguments(), captures = s.function.num_captures, results = s.graph().outputs().size();
  const Types inputs = concat(concat(argument_types(s.function), s.graph().output_types()), capture_types(s.function));
  return build_graph(s, inputs, [&](const Handles& in) {
    const Handles arguments = concat(slice(in, 0, n), slice(in, n + results, captures));
    return detail::emit_graph(pulled, concat(arguments, slice(in, n, results)));
  });
}

namespace {

/// A function of (arguments, tangents, captures) from a body on (arguments, captures, tangents).
template <class Body>
Graph with_tangents(const Step& s, Body body) {
  const Types arguments = argument_types(s.function);
  const size_t n = arguments.size(), captures = s.function.num_captures;
  return build_graph(s, concat(concat(arguments, arguments), capture_types(s.function)), [&](const Handles& in) {
    return body(concat(slice(in, 0, n), slice(in, 2 * n, captures)), slice(in, n, n));
  });
}

}  // namespace

Graph jvp_of(const Step& s) {
  const Graph pushed = transform::jvp(s.graph(), all_arguments(s));
  return with_tangents(s, [&](const Handles& known, const Handles& tangents) {
    return detail::emit_graph(pushed, concat(known, tangents));
  });
}

/// jvp by partial evaluation: the known part, without the tangents, is computed first.
Graph linearize_of(const Step& s) {
  const Graph pushed = transform::jvp(s.graph(), all_arguments(s));
  std::vector<bool> unknown(pushed.inputs().size(), true);
  std::fill_n(unknown.begin(), s.graph().inputs().size(), false);
  const transform::PartialEval partial = transform::partial_eval(pushed, unknown);
  partial.known.verify("partial_eval");
  partial.unknown.verify("partial_eval");
  return with_tangents(s, [&](const Handles& known, const Handles& tangents) {
    const Handles first = detail::emit_graph(partial.known, known);
    const size_t values = first.size() - partial.num_residuals;
    const Handles second =
        detail::emit_graph(partial.unknown, concat(slice(first, values, partial.num_residuals), tangents));
    Handles out;
    size_t from_first = 0, from_second = 0;
    for (const bool late : partial.unknown_outputs) out.push_back(late ? second[from_second++] : first[from_first++]);
    return out;
  });
}

// ---- jacobians

using BatchAxes = std::vector<transform::BatchAxis>;

/// For each argument the derivatives of all results, by a vmapped jvp over the unit vectors of the argument.
Graph jacfwd_of(const Step& s) {
  check_inexact_results(s);
  const std::vector<size_t> numbers = argnums(s);
  const Types inputs = s.graph().input_types(), results = s.graph().output_types();
  std::vector<Graph> columns;
  for (const size_t n : numbers) {
    Graph pushed = transform::jvp(s.graph(), marked(s, {n}));
    const auto tangents = pushed.outputs().begin() + static_cast<std::ptrdiff_t>(results.size());
    pushed.set_outputs(std::vector<Value>(tangents, pushed.outputs().end()));
    BatchAxes in_axes(pushed.inputs().size()), out_axes;
    in_axes.back() = 0;
    for (const Type& t : results) out_axes.emplace_back(t.shape.rank());
    pushed = transform::simplify(pushed, transform::InlineScope::calls);
    columns.push_back(transform::vmap(pushed, in_axes, inputs[n].shape.num_elements(), out_axes));
    columns.back().verify("vmap");
  }
  return build_graph(s, inputs, [&](const Handles& in) {
    std::vector<Handles> all;
    for (size_t k = 0; k < numbers.size(); ++k) {
      all.push_back(detail::emit_graph(columns[k], concat(in, Handles{basis(inputs[numbers[k]], s.at)})));
    }
    Handles out;
    for (size_t r = 0; r < results.size(); ++r) {
      for (size_t k = 0; k < numbers.size(); ++k) {
        const Shape shape = concatenated(results[r].shape, inputs[numbers[k]].shape);
        out.push_back(ops::reshape(all[k][r], shape.dims(), s.at));
      }
    }
    return out;
  });
}

/// For each result its derivatives with respect to all arguments, by a vmapped vjp over the unit vectors of the result.
Graph jacrev_of(const Step& s) {
  check_real_results(s);
  const std::vector<size_t> numbers = argnums(s);
  const std::vector<bool> wrt = marked(s, numbers);
  const Types inputs = s.graph().input_types(), results = s.graph().output_types();
  Graph pulled = transform::vjp(s.graph(), wrt);
  const auto cotangents = pulled.outputs().begin() + static_cast<std::ptrdiff_t>(results.size());
  pulled.set_outputs(std::vector<Value>(cotangents, pulled.outputs().end()));
  pulled = transform::simplify(pulled, transform::InlineScope::calls);
  std::vector<Graph> rows;
  for (size_t r = 0; r < results.size(); ++r) {
    BatchAxes in_axes(pulled.inputs().size());
    in_axes[inputs.size() + r] = 0;
    rows.push_back(transform::vmap(pulled, in_axes, results[r].shape.num_elements(),
                                   BatchAxes(pulled.outputs().size(), transform::BatchAxis(0))));
    rows.back().verify("vmap");
  }
  return build_graph(s, inputs, [&](const Handles& in) {
    Handles out;
    for (size_t r = 0; r < results.size(); ++r) {
      Handles operands = in;
      for (size_t i = 0; i < results.size(); ++i) {
        operands.push_back(i == r ? basis(results[r], s.at) : splat(0, results[i], s.at));
      }
      const Handles all = detail::emit_graph(rows[r], operands);
      for (const size_t n : numbers) {
        const Shape shape = concatenated(results[r].shape, inputs[n].shape);
        out.push_back(ops::reshape(all[index_among_marked(wrt, n)], shape.dims(), s.at));
      }
    }
    return out;
  });
}

Graph hessian_of(const Step& s) {
  const CaseFunction jacobian{jacrev_of(s), s.function.num_captures};
  jacobian.graph.verify("jacrev");
  return jacfwd_of({s.json, s.kind, jacobian, s.types, s.at});
}

}  // namespace calque::cli
