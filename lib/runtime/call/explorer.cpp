#include "runtime/call/explorer.h"

#include <algorithm>
#include <cmath>

#include "calque/device.h"

#include "compile/executable.h"
#include "compile/first_runs.h"
#include "ir/graph/effects.h"
#include "primitives/registry.h"
#include "reference/evaluate.h"
#include "runtime/call/dispatch.h"
#include "runtime/call/function_state.h"
#include "runtime/device/collectives.h"
#include "trace/builder.h"
#include "transform/simplify/lift_constants.h"

namespace calque::runtime {
namespace {

/// What takes longer to evaluate, in seconds, is compiled.
constexpr double kCompiledAbove = 2e-3;
/// Results of equations that take this part of a compiled slice are kept for later questions.
constexpr double kKeptAbove = 0.05;

/// Estimated seconds of the reference evaluator.
double seconds_of(const Graph& graph, const Equation& e) {
  constexpr double kMultiply = 3e-9, kIterations = 100;
  double seconds = seconds_to_evaluate(graph, e);
  for (const Graph& inner : e.subgraphs()) {
    for (const Equation& f : inner.equations()) seconds += kIterations * seconds_of(inner, f);
  }
  const primitives::FusionKind kind = primitives::rules(e.id()).fusion_kind;
  if (kind == primitives::FusionKind::contraction || kind == primitives::FusionKind::routine) {
    // The number of products of a contraction is the root of the product of the sizes of operands and result.
    double product = static_cast<double>(graph.shape(e.result()).num_elements());
    for (const Value v : e.operands()) product *= static_cast<double>(graph.shape(v).num_elements());
    seconds += kMultiply * std::sqrt(product);
  }
  return seconds;
}

}  // namespace

Explorer::Explorer(const detail::Arguments& arguments, CompileOptions options, Device device,
                   primitives::EffectLog& effects)
    : arguments_(arguments),
      options_(std::move(options)),
      route_(route_through(device_api(device))),
      effects_(effects) {
  options_.device = Device{};
  options_.donated.clear();
  options_.deterministic = false;
}

void Explorer::follow(const detail::merged::MergedTrace& program, detail::merged::Line line,
                      std::vector<int64_t> answers) {
  program_ = &program;
  line_ = std::move(line);
  checker_.emplace(*program_, line_);
  given_ = std::move(answers);
}

int64_t Explorer::answer(detail::Builder& trace, const detail::Question& question) {
  const size_t n = path.asked.size() - 1;
  if (!departed_ && n < given_.size()) {
    if (checker_->agrees(trace.graph(), question)) return given_[n];
    departed_ = true;
  }
  const Value wanted[] = {question.value};
  evaluate(trace.graph(), wanted);
  const AnyArray& value = leaf(trace.graph(), question.value);
  return question.kind == detail::QuestionKind::truth ? int64_t{*value.data_as<bool>()} : *value.data_as<int64_t>();
}

std::vector<AnyArray> Explorer::values(const Graph& graph, std::span<const Value> wanted) {
  evaluate(graph, wanted);
  std::vector<AnyArray> out;
  for (const Value v : wanted) out.push_back(leaf(graph, v));
  return out;
}

void Explorer::set(Value v, AnyArray value) {
  if (values_.size() <= v.id()) values_.resize(v.id() + size_t{1});
  values_[v.id()] = std::move(value);
}

/// The value of an input, literal or constant, or one that is known.
const AnyArray& Explorer::leaf(const Graph& graph, Value v) {
  if (!known(v)) {
    switch (graph.kind(v)) {
      case ValueKind::literal:
        set(v, reference::materialize(graph.literal(v), graph.type(v)));
        break;
      case ValueKind::constant:
        set(v, detail::copy_to_device("call", graph.constant(v), cpu(), {}));
        break;
      default:
        set(v, value_of(arguments_.leaves()[graph.input_index(v)]));
    }
  }
  return values_[v.id()];
}

void Explorer::evaluate(const Graph& graph, std::span<const Value> wanted) {
  run_effects(graph);
  // Those that are needed, in recorded order.
  std::vector<bool> needed(graph.num_values(), false);
  std::vector<const Equation*> stack, slice;
  const auto need = [&](Value v) {
    const Equation* e = graph.definition(v);
    if (e == nullptr || known(v) || needed[v.id()]) return;
    for (const Value r : e->results()) needed[r.id()] = true;
    stack.push_back(e);
  };
  for (const Value v : wanted) need(v);
  while (!stack.empty()) {
    const Equation* e = stack.back();
    stack.pop_back();
    slice.push_back(e);
    for (const Value v : e->operands()) need(v);
  }
  // Results of later equations have greater ids.
  std::ranges::sort(slice, {}, [](const Equation* e) { return e->result().id(); });
  run_slice(graph, std::move(slice), wanted);
}

/// Effects that were recorded happen before what comes after them is asked for.
void Explorer::run_effects(const Graph& graph) {
  std::vector<const Equation*> effects;
  if (considered_of_ != &graph) {  // the recorded graph is moved when the trace ends
    considered_of_ = &graph;
    auto it = graph.equations().begin();
    for (size_t i = 0; i < num_considered_; ++i) last_considered_ = it++;
  }
  while (num_considered_ < graph.num_equations()) {
    if (num_considered_ == 0) {
      last_considered_ = graph.equations().begin();
    } else {
      ++last_considered_;
    }
    ++num_considered_;
    if (has_effect(*last_considered_)) effects.push_back(&*last_considered_);
  }
  for (const Equation* e : effects) {
    if (!e->operands().empty()) {
      const std::vector<Value> operands(e->operands().begin(), e->operands().end());
      evaluate(graph, operands);
    }
    run_slice(graph, {e}, {});
  }
}

void Explorer::run_slice(const Graph& graph, std::vector<const Equation*> slice, std::span<const Value> wanted) {
  std::vector<double> seconds;
  double total = 0;
  bool effects = false;
  for (const Equation* e : slice) {
    seconds.push_back(seconds_of(graph, *e));
    total += seconds.back();
    effects |= has_effect(*e);
  }
  if (total > kCompiledAbove && !effects) return run_compiled(graph, slice, wanted, seconds);
  for (const Equation* e : slice) {
    std::vector<AnyArray> operands;
    for (const Value v : e->operands()) operands.push_back(leaf(graph, v));
    const primitives::EffectLog::Run run(effects_, effects_taken_);
    const primitives::RouteCollectives route(route_);
    std::vector<AnyArray> results = reference::evaluate_equation(graph, *e, operands, reference_options(options_));
    for (size_t k = 0; k < results.size(); ++k) set(e->result(k), std::move(results[k]));
    effects_taken_ = run.taken();
  }
}

void Explorer::run_compiled(const Graph& graph, const std::vector<const Equation*>& slice,
                            std::span<const Value> wanted, std::span<const double> seconds) {
  double total = 0;
  for (const double s : seconds) total += s;
  Graph part;
  part.set_name(graph.name());
  std::vector<Value> copies(graph.num_values()), outputs, outputs_of;
  std::vector<AnyArray> inputs;
  std::vector<bool> made_here(graph.num_values(), false);
  for (const Equation* e : slice) {
    for (const Value v : e->results()) made_here[v.id()] = true;
  }
  for (const Equation* e : slice) {
    for (const Value v : e->operands()) {
      if (copies[v.id()].valid() || graph.is_literal(v) || graph.kind(v) == ValueKind::constant) continue;
      if (made_here[v.id()]) continue;
      copies[v.id()] = part.add_input(graph.type(v));
      inputs.push_back(leaf(graph, v));
    }
  }
  for (size_t i = 0; i < slice.size(); ++i) {
    const Equation& e = *slice[i];
    ValueList operands;
    for (const Value v : e.operands()) {
      Value& copy = copies[v.id()];
      if (!copy.valid()) copy = part.add_copy(graph, v);
      operands.push_back(copy);
    }
    const Equation& copy = part.append_copy(graph, e, std::move(operands));
    for (size_t k = 0; k < e.results().size(); ++k) {
      const Value v = e.result(k);
      copies[v.id()] = copy.result(k);
      if (seconds[i] < kKeptAbove * total && std::ranges::find(wanted, v) == wanted.end()) continue;
      outputs.push_back(copy.result(k));
      outputs_of.push_back(v);
    }
  }
  part.set_outputs(std::move(outputs));
  for (AnyArray& array : transform::lift_constants(part)) {
    inputs.push_back(detail::copy_to_device("call", array, cpu(), {}));
  }
  std::vector<Strides> strides;
  for (const Value v : part.inputs()) strides.push_back(row_major_strides(part.shape(v)));
  const auto executable = find_executable(part, strides, options_);
  std::vector<const AnyArray*> arguments;
  for (const AnyArray& input : inputs) arguments.push_back(&input);
  std::vector<AnyArray> results = execute(*executable, arguments);
  for (size_t k = 0; k < results.size(); ++k) set(outputs_of[k], std::move(results[k]));
}

}  // namespace calque::runtime
