// Programs run within a trace; the bodies of control flow see the names of the programs around them, which the traces
// turn into captures.
#include "calque/case_programs.h"

#include <deque>
#include <unordered_map>

#include "calque/case_functions.h"
#include "calque/detail/control.h"
#include "calque/detail/ops.h"

namespace calque::cli {
namespace {

using detail::Handle;
using detail::Operand;
using detail::TraceBody;
using Handles = std::vector<Handle>;

/// A value of its own dtype: literals are i32, f32 or c64, as where nothing stands beside them.
Handle strong(const Operand& x, Location at) {
  switch (x.kind()) {
    case Operand::Kind::tracer:
      return x.handle();
    case Operand::Kind::weak:
      return detail::lift(x, promote_weak(DType::bool_, x.weak().kind), at);
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

  Handles run_body(const Json& sub, const Json& arguments) {
    Handles outputs;
    body(sub)(resolve_strong(arguments), outputs);
    return outputs;
  }

  const Scope* parent_;
  Location at_;
  std::unordered_map<std::string, Operand> names_;
  std::deque<AnyArray> constants_;
};

/// Control flow, and what wraps functions. Derivative rules are not used without a transformation.
constexpr std::string_view kControl[] = {"cond", "switch_",          "while_loop", "fori_loop",  "scan",
                                         "map",  "associative_scan", "checkpoint", "custom_jvp", "custom_vjp",
                                         "call"};

bool is_control(std::string_view fn) { return std::ranges::find(kControl, fn) != std::end(kControl); }

Handles Scope::evaluate(const Json& statement) {
  const auto fn = statement.at("fn").get<std::string>();
  const Json none = Json::array();
  const Json& arguments = statement.contains("args") ? statement["args"] : none;
  const Params params(statement);
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
    return detail::switch_(selector, branches, operands, site);
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
  return run_body(params.get("body"), arguments);
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

// ---- what cannot be done

std::optional<std::string> why_unsupported_transform(const Json& holder) {
  if (!holder.contains("transform")) return std::nullopt;
  for (const Json& transform : holder["transform"]) {
    const auto kind = transform.at("kind").get<std::string>();
    if (kind != "jit" && kind != "checkpoint") return "transformation " + kind;
  }
  return std::nullopt;
}

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
    if (auto reason = why_unsupported_transform(statement["params"])) return reason;
    if (auto reason = why_unsupported_params(statement["params"])) return reason;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_unsupported_case(const Json& json) {
  if (auto reason = why_unsupported_transform(json)) return reason;
  if (json.contains("program")) return why_unsupported_program(json["program"]);
  return why_unsupported(json.at("fn").get<std::string>());
}

Graph trace_case(const Json& json, const std::vector<Type>& types, Location at) {
  const TraceBody body = [&](std::span<const Handle> handles, Handles& outputs) {
    std::vector<Operand> operands;
    for (const Json& input : json.at("inputs")) {
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
  detail::TraceResult result = detail::trace_graph("case", types, body);
  return std::move(result.graph);
}

}  // namespace calque::cli
