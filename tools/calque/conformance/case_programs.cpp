// Programs run within a trace; the bodies of control flow see the names of enclosing programs, which tracing converts
// to captures.
#include "calque/conformance/case_programs.h"

#include <deque>
#include <unordered_map>

#include "calque/conformance/case_functions.h"
#include "calque/conformance/case_transforms.h"
#include "calque/detail/control/control.h"
#include "calque/detail/ops.h"
#include "calque/ir/errors.h"

#include "primitives/list.h"

namespace calque::cli {
namespace {

using detail::Handle;
using detail::Operand;
using detail::TraceBody;
using Handles = std::vector<Handle>;
using Types = std::vector<Type>;

template <class T>
std::vector<T> concat(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Types types_of(const Handles& handles, Location at) {
  Types types;
  for (const Handle h : handles) types.push_back(detail::type_of(h, at));
  return types;
}

/// A value with a strong dtype: literals become i32, f32 or c64, as without another operand.
Handle strong(const Operand& x, Location at) {
  switch (x.kind()) {
    case Operand::Kind::tracer:
      return x.handle();
    case Operand::Kind::weak:
      return detail::lift(x, x.weak().dtype, at);
    default:
      return detail::lift(x, DType::f32, at);
  }
}

class Scope {
 public:
  Scope(const Scope* parent, Location at) : parent_(parent), at_(at) {}

  void define(const std::string& name, const Operand& value) { names_.insert_or_assign(name, value); }

  Operand resolve(const Json& argument) {
    if (argument.is_string()) return find(argument.get_ref<const std::string&>());
    if (argument.is_object() && argument.contains("const")) {
      return Operand(constants_.emplace_back(read_array(argument["const"])));
    }
    return read_literal(argument);
  }

  Handles resolve_strong(const Json& arguments) {
    Handles handles;
    for (const Json& a : arguments) handles.push_back(strong(resolve(a), at_));
    return handles;
  }

  void run(const Json& program) {
    for (const Json& statement : program) define_results(statement.at("out"), evaluate(statement));
  }

  Location at() const { return at_; }

 private:
  Operand find(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->parent_) {
      const auto found = scope->names_.find(name);
      if (found != scope->names_.end()) return found->second;
    }
    throw CaseError("program: " + name + " is not defined");
  }

  void define_results(const Json& out, const Handles& results) {
    const size_t count = out.is_array() ? out.size() : 1;
    if (count != results.size()) {
      throw CaseError("program: " + out.dump() + " names " + std::to_string(count) + " results, got " +
                      std::to_string(results.size()));
    }
    for (size_t i = 0; i < count; ++i) define((out.is_array() ? out[i] : out).get<std::string>(), results[i]);
  }

  Handles evaluate(const Json& statement);
  Handles evaluate_control(const std::string& fn, const Params& params, const Json& arguments);
  Handles fori(const Params& params, const Json& arguments);
  Handles scan(const Params& params, const Json& arguments);
  Handles checkpoint(const Params& params, const Json& arguments);
  Handles custom_jvp(const Params& params, const Json& arguments);
  Handles custom_vjp(const Params& params, const Json& arguments);
  Handles call(const Json& statement, const Json& arguments);

  /// A sub-program as a body; it may be run several times.
  TraceBody body(const Json& sub) const {
    return [this, &sub](std::span<const Handle> inputs, Handles& outputs) {
      const Json& names = sub.at("inputs");
      if (names.size() != inputs.size()) {
        throw CaseError("program: a sub-program of " + std::to_string(names.size()) + " inputs is given " +
                        std::to_string(inputs.size()));
      }
      Scope inner(this, at_);
      for (size_t i = 0; i < inputs.size(); ++i) inner.define(names[i].get<std::string>(), inputs[i]);
      inner.run(sub.at("program"));
      outputs = inner.resolve_strong(sub.at("results"));
    };
  }

  /// A sub-program as a graph of its inputs and of the values that it captures from enclosing programs.
  detail::TraceResult traced(std::string_view name, const Json& sub, const Types& types) const {
    return detail::trace_graph(name, types, body(sub));
  }

  const Scope* parent_;
  Location at_;
  std::unordered_map<std::string, Operand> names_;
  std::deque<AnyArray> constants_;
};

/// Control flow and function wrappers.
constexpr std::string_view kControl[] = {"cond", "switch_",          "while_loop", "fori_loop",  "scan",
                                         "map",  "associative_scan", "checkpoint", "custom_jvp", "custom_vjp",
                                         "call"};

bool is_control(std::string_view fn) { return std::ranges::find(kControl, fn) != std::end(kControl); }

Handles Scope::evaluate(const Json& statement) {
  const auto fn = statement.at("fn").get<std::string>();
  const Json none = Json::array();
  const Json& arguments = statement.contains("args") ? statement["args"] : none;
  const Params params(statement);
  if (fn == "call") return call(statement, arguments);
  if (is_control(fn)) return evaluate_control(fn, params, arguments);
  std::vector<Operand> operands;
  for (const Json& a : arguments) operands.push_back(resolve(a));
  return call_function({fn, operands, params, at_});
}

Handles Scope::evaluate_control(const std::string& fn, const Params& params, const Json& arguments) {
  const detail::ControlSite site{at_, {}};
  if (fn == "cond" || fn == "switch_") {
    if (arguments.empty()) throw CaseError(fn + ": the selector is missing");
    const Operand selector = resolve(arguments[0]);
    Handles operands;
    for (size_t i = 1; i < arguments.size(); ++i) operands.push_back(strong(resolve(arguments[i]), at_));
    if (fn == "cond") {
      return detail::cond(selector, body(params.get("true")), body(params.get("false")), operands, site);
    }
    std::vector<TraceBody> branches;
    for (const Json& branch : params.get("branches")) branches.push_back(body(branch));
    const std::vector<detail::BodyRef> bodies(branches.begin(), branches.end());
    return detail::switch_(selector, bodies, operands, site);
  }
  if (fn == "while_loop") {
    return detail::while_loop(body(params.get("cond")), body(params.get("body")), resolve_strong(arguments), site);
  }
  if (fn == "fori_loop") return fori(params, arguments);
  if (fn == "scan") return scan(params, arguments);
  if (fn == "map") return detail::map(body(params.get("body")), resolve_strong(arguments), site);
  if (fn == "associative_scan") {
    return detail::associative_scan(body(params.get("body")), resolve_strong(arguments), params.flag("reverse"), 0,
                                    site);
  }
  if (fn == "checkpoint") return checkpoint(params, arguments);
  if (fn == "custom_jvp") return custom_jvp(params, arguments);
  return custom_vjp(params, arguments);
}

Handles Scope::fori(const Params& params, const Json& arguments) {
  const detail::ControlSite site{at_, {}};
  Handles carry = resolve_strong(arguments);
  if (!params.flag("dynamic")) {
    return detail::fori_loop(detail::literal_operand(params.integer("lower")),
                             detail::literal_operand(params.integer("upper")), DType::i32, body(params.get("body")),
                             carry, site);
  }
  if (carry.size() < 2) throw CaseError("fori_loop: the bounds are missing");
  const Operand lower = resolve(arguments[0]), upper = resolve(arguments[1]);
  const DType index = promote(detail::type_of(carry[0], at_).dtype, detail::type_of(carry[1], at_).dtype);
  return detail::fori_loop(lower, upper, index, body(params.get("body")), std::span(carry).subspan(2), site);
}

Handles Scope::scan(const Params& params, const Json& arguments) {
  const Handles operands = resolve_strong(arguments);
  const auto carry = static_cast<size_t>(params.integer("carry"));
  if (carry > operands.size()) throw CaseError("scan: the carry is longer than the arguments");
  const detail::ScanParameters parameters{params.integer("length", -1), params.flag("reverse"),
                                          params.integer("unroll", 1)};
  return detail::scan(body(params.get("body")), std::span(operands).first(carry), std::span(operands).subspan(carry),
                      parameters, {at_, {}});
}

// ---- functions with custom rules

/// Checks the result types of a rule. Throws GradError for a wrong number of values.
void check_rule(const std::string& rule, const Types& expected, const Types& got, Location at) {
  if (expected.size() != got.size()) {
    throw GradError(rule + ": expected " + std::to_string(expected.size()) + " values, got " +
                    std::to_string(got.size()) + where_text(at));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (expected[i] == got[i]) continue;
    const std::string text = rule + ": value " + std::to_string(i) + " must be " + to_string(expected[i]) + ", got " +
                             to_string(got[i]) + where_text(at);
    if (expected[i].dtype != got[i].dtype) throw DTypeError(text);
    throw ShapeError(text);
  }
}

template <class P>
Handles emit_rules(const Handles& operands, std::vector<Graph> graphs, Location at) {
  Handles results;
  detail::emit(primitives::get<P>(), operands, {}, std::move(graphs), at, results);
  return results;
}

Handles Scope::checkpoint(const Params& params, const Json& arguments) {
  const Handles operands = resolve_strong(arguments);
  detail::TraceResult sub = traced("checkpoint", params.get("body"), types_of(operands, at_));
  return emit_rules<primitives::Checkpoint>(concat(operands, sub.captures), {std::move(sub.graph)}, at_);
}

/// Values captured by the body or the rule become operands whose tangents the rule ignores.
Handles Scope::custom_jvp(const Params& params, const Json& arguments) {
  const Handles operands = resolve_strong(arguments);
  const Types types = types_of(operands, at_);
  detail::TraceResult body = traced("custom_jvp", params.get("body"), types);
  const Types results = body.graph.output_types();
  detail::TraceResult rule = traced("jvp", params.get("jvp"), concat(types, types));
  check_rule("custom_jvp: jvp", concat(results, results), rule.graph.output_types(), at_);
  detail::TraceResult* both[] = {&body, &rule};
  const Handles captures = detail::unify_captures(both);
  const Types all = concat(types, types_of(captures, at_));
  const auto jvp = [&](std::span<const Handle> in, Handles& outputs) {
    const size_t n = types.size(), m = all.size();
    Handles given(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n));
    for (size_t i = m; i < m + n; ++i) given.push_back(in[i]);
    for (size_t i = n; i < m; ++i) given.push_back(in[i]);
    outputs = detail::emit_graph(rule.graph, given);
  };
  Graph graph = detail::trace_graph("jvp", concat(all, all), jvp).graph;
  return emit_rules<primitives::CustomJvp>(concat(operands, captures), {std::move(body.graph), std::move(graph)}, at_);
}

/// Values captured by the sub-programs become operands with zero cotangents, and residuals of the backward sub-program.
Handles Scope::custom_vjp(const Params& params, const Json& arguments) {
  const Handles operands = resolve_strong(arguments);
  const Types types = types_of(operands, at_);
  detail::TraceResult body = traced("custom_vjp", params.get("body"), types);
  const Types results = body.graph.output_types();
  detail::TraceResult forward = traced("fwd", params.get("fwd"), types);
  const Types saved = forward.graph.output_types();
  const auto outputs = static_cast<size_t>(params.integer("outputs"));
  if (outputs != results.size() || outputs > saved.size()) {
    throw GradError("custom_vjp: fwd must give " + std::to_string(results.size()) + " results, then residuals, got " +
                    std::to_string(saved.size()) + " values" + where_text(at_));
  }
  const auto residuals_at = saved.begin() + static_cast<std::ptrdiff_t>(outputs);
  check_rule("custom_vjp: fwd", results, {saved.begin(), residuals_at}, at_);
  const Types residuals(residuals_at, saved.end());
  detail::TraceResult backward = traced("bwd", params.get("bwd"), concat(residuals, results));
  check_rule("custom_vjp: bwd", types, backward.graph.output_types(), at_);
  detail::TraceResult* all[] = {&body, &forward, &backward};
  const Handles captures = detail::unify_captures(all);
  const Types captured = types_of(captures, at_);
  const auto fwd = [&](std::span<const Handle> in, Handles& out) {
    out = concat(detail::emit_graph(forward.graph, in), Handles(in.begin() + std::ssize(types), in.end()));
  };
  const auto bwd = [&](std::span<const Handle> in, Handles& out) {
    Handles given(in.begin(), in.begin() + std::ssize(residuals));
    given.insert(given.end(), in.end() - std::ssize(results), in.end());
    given.insert(given.end(), in.begin() + std::ssize(residuals), in.end() - std::ssize(results));
    out = detail::emit_graph(backward.graph, given);
    for (const Type& t : captured) out.push_back(detail::literal(Literal(), t, at_));
  };
  Graph first = detail::trace_graph("fwd", concat(types, captured), fwd).graph;
  Graph second = detail::trace_graph("bwd", concat(concat(residuals, captured), results), bwd).graph;
  return emit_rules<primitives::CustomVjp>(concat(operands, captures),
                                           {std::move(body.graph), std::move(first), std::move(second)}, at_);
}

Handles Scope::call(const Json& statement, const Json& arguments) {
  const Json& params = statement.at("params");
  const Handles operands = resolve_strong(arguments);
  const CaseTransforms transforms(params, types_of(operands, at_), at_);
  detail::TraceResult sub = traced("call", params.at("body"), transforms.innermost());
  const CaseFunction function = transforms.apply({std::move(sub.graph), sub.captures.size()});
  return detail::emit_graph(function.graph, concat(operands, sub.captures));
}

// ---- unsupported programs

std::optional<std::string> why_unsupported_program(const Json& program);

/// Sub-programs anywhere among the parameters.
std::optional<std::string> why_unsupported_params(const Json& params) {
  if (params.is_object() && params.contains("program")) return why_unsupported_program(params["program"]);
  if (!params.is_structured()) return std::nullopt;
  for (const Json& value : params) {
    if (auto reason = why_unsupported_params(value)) return reason;
  }
  return std::nullopt;
}

std::optional<std::string> why_unsupported_program(const Json& program) {
  for (const Json& statement : program) {
    const auto fn = statement.at("fn").get<std::string>();
    if (!is_control(fn)) {
      if (auto reason = why_unsupported(fn)) return reason;
    }
    if (!statement.contains("params")) continue;
    if (auto reason = why_unsupported_transforms(statement["params"])) return reason;
    if (auto reason = why_unsupported_params(statement["params"])) return reason;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_unsupported_case(const Json& json) {
  if (auto reason = why_unsupported_transforms(json)) return reason;
  if (json.contains("program")) return why_unsupported_program(json["program"]);
  return why_unsupported(json.at("fn").get<std::string>());
}

Graph trace_case(const Json& json, const std::vector<Type>& types, Location at) {
  const CaseTransforms transforms(json, types, at);
  const bool transformed = json.contains("transform") && !json["transform"].empty();
  const TraceBody body = [&](std::span<const Handle> handles, Handles& outputs) {
    std::vector<Operand> operands;
    if (transformed) operands.assign(handles.begin(), handles.end());
    for (const Json& input : json.at("inputs")) {
      if (transformed) break;
      if (is_array(input)) {
        operands.emplace_back(handles.front());
        handles = handles.subspan(1);
      } else {
        operands.push_back(read_literal(input));
      }
    }
    if (json.contains("fn")) {
      outputs = call_function({json["fn"].get_ref<const std::string&>(), operands, Params(json), at});
      return;
    }
    Scope scope(nullptr, at);
    for (size_t i = 0; i < operands.size(); ++i) scope.define("x" + std::to_string(i), operands[i]);
    scope.run(json.at("program"));
    outputs = scope.resolve_strong(json.at("results"));
  };
  detail::TraceResult result = detail::trace_graph("case", transforms.innermost(), body);
  return transforms.apply({std::move(result.graph), 0}).graph;
}

}  // namespace calque::cli
