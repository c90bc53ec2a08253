// `calque conformance`: traces, runs and compares every case of the files. A case fails with the text of its error; it
// is unsupported only for a reason given by why_unsupported_case or the device.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>

#include "calque/commands.h"
#include "calque/compare.h"
#include "calque/conformance/case.h"
#include "calque/conformance/case_programs.h"
#include "calque/detail/ops.h"
#include "calque/detail/run.h"
#include "calque/device.h"
#include "calque/ir/errors.h"
#include "calque/progress.h"

#include "compile/executable.h"
#include "reference/evaluate.h"
#include "runtime/process/environment.h"

namespace calque::cli {
namespace {

enum class Verdict { passed, failed, unsupported };

struct Outcome {
  std::string id;
  Verdict verdict = Verdict::passed;
  std::string reason;
  std::string graph;  ///< of a wrong result, if requested
};

struct Line {
  const std::string* file;
  uint32_t number;
  std::string text;
};

std::string class_of(const std::exception& e) {
#define CALQUE_X(E) \
  if (dynamic_cast<const E*>(&e)) return #E;
  CALQUE_X(ShapeError)
  CALQUE_X(DTypeError)
  CALQUE_X(ConcretizationError)
  CALQUE_X(LeakedTracerError)
  CALQUE_X(GradError)
  CALQUE_X(ParseError)
  CALQUE_X(CompileError)
  CALQUE_X(DeviceError)
  CALQUE_X(CacheError)
  CALQUE_X(Error)
#undef CALQUE_X
  return dynamic_cast<const CaseError*>(&e) ? "malformed case" : "exception";
}

std::string text_of(const std::exception& e) { return class_of(e) + ": " + e.what(); }

Tolerance read_tolerance(const Json& json) {
  Tolerance t;
  const Json& tol = json.at("tol");
  if (tol.contains("ulp")) {
    t.kind = Tolerance::Kind::ulp;
    t.ulp = tol["ulp"].get<double>();
  } else if (tol.contains("rtol") || tol.contains("atol")) {
    t.kind = Tolerance::Kind::relative;
    t.rtol = tol.value("rtol", 0.0);
    t.atol = tol.value("atol", 0.0);
  } else if (!tol.contains("exact")) {
    throw CaseError("tol: cannot be read from " + tol.dump());
  }
  t.signed_zero = json.value("signed_zero", false);
  t.lower_only = json.value("lower_only", false);
  return t;
}

/// Checks that small programs still trace and run after an error.
void check_usable() {
  if (detail::tracing()) throw std::runtime_error("the trace is still running after the error");
  const Type type{DType::f32, {}};
  const AnyArray one = AnyArray::full<float>({}, 1.0F);
  const detail::TraceResult r = detail::trace_graph(
      "usable", std::span(&type, 1), [](std::span<const detail::Handle> in, std::vector<detail::Handle>& out) {
        out.push_back(detail::ops::add(in[0], detail::literal_operand(1), {}));
      });
  if (*reference::evaluate(r.graph, std::span(&one, 1))[0].data_as<float>() != 2) {
    throw std::runtime_error("1 + 1 is no longer 2 after the error");
  }
}

/// The failure of a case that must be rejected, or nothing.
std::string check_error(const Json& json, const std::vector<Type>& types, Location at) {
  std::vector<std::string> admitted{json["error"].get<std::string>()};
  if (json.contains("error_also")) {
    for (const Json& also : json["error_also"]) admitted.push_back(also.get<std::string>());
  }
  try {
    trace_case(json, types, at);
  } catch (const Error& e) {
    check_usable();
    if (std::ranges::find(admitted, class_of(e)) != admitted.end()) return {};
    return "expected " + admitted[0] + ", got " + text_of(e);
  }
  return "expected " + admitted[0] + ", but tracing went well";
}

std::vector<AnyArray> run(const Graph& graph, const std::vector<AnyArray>& inputs, const std::string& device) {
  if (device == "reference") return reference::evaluate(graph, inputs);
  // The inputs are on the host; they run on the default device.
  std::vector<const AnyArray*> arrays;
  for (const AnyArray& a : inputs) arrays.push_back(&a);
  return detail::run_arrays("case", arrays,
                            [&](std::span<const detail::Handle> handles, std::vector<detail::Handle>& outputs) {
                              outputs = detail::emit_graph(graph, handles);
                            });
}

void evaluate(const Json& json, Location at, const ConformanceOptions& options, Outcome& outcome) {
  if (const auto reason = why_unsupported_case(json)) throw Unsupported(*reason);
  std::vector<AnyArray> inputs;
  std::vector<Type> types;
  for (const Json& input : json.at("inputs")) {
    if (!is_array(input)) continue;
    inputs.push_back(read_array(input));
    types.push_back(inputs.back().type());
  }
  outcome.verdict = Verdict::failed;
  if (json.contains("error")) {
    outcome.reason = check_error(json, types, at);
  } else {
    const Graph graph = trace_case(json, types, at);
    if (options.show_graphs) outcome.graph = print(graph);
    const std::vector<AnyArray> results = run(graph, inputs, options.device);
    const Json& expect = json.at("expect");
    const Tolerance tolerance = read_tolerance(json);
    if (results.size() != expect.size()) {
      outcome.reason = std::to_string(results.size()) + " results, want " + std::to_string(expect.size());
    }
    for (size_t i = 0; i < results.size() && outcome.reason.empty(); ++i) {
      outcome.reason = difference(results[i], read_array(expect[i]), tolerance);
      if (!outcome.reason.empty() && results.size() > 1) {
        outcome.reason = "result " + std::to_string(i) + ": " + outcome.reason;
      }
    }
  }
  if (outcome.reason.empty()) outcome.verdict = Verdict::passed;
}

Outcome judge(const Line& line, const ConformanceOptions& options) {
  Outcome outcome{*line.file + ":" + std::to_string(line.number), Verdict::failed, {}, {}};
  try {
    const Json json = Json::parse(line.text);
    outcome.id = json.at("id").get<std::string>();
    if (outcome.id.find(options.only) == std::string::npos || (!options.id.empty() && outcome.id != options.id)) {
      outcome.id.clear();
      return outcome;
    }
    evaluate(json, Location(line.file->c_str(), line.number), options, outcome);
  } catch (const Unsupported& e) {
    outcome.verdict = Verdict::unsupported;
    outcome.reason = e.what();
  } catch (const Json::exception& e) {
    outcome.reason = std::string("malformed case: ") + e.what();
  } catch (const std::exception& e) {
    outcome.reason = text_of(e);
  } catch (...) {
    outcome.reason = "an exception of no known class";
  }
  std::ranges::replace(outcome.reason, '\n', ' ');
  return outcome;
}

std::vector<Line> read_lines(const std::vector<std::string>& files) {
  std::vector<Line> lines;
  for (const std::string& file : files) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("conformance: cannot read " + file);
    std::string text;
    for (uint32_t number = 1; std::getline(in, text); ++number) {
      if (text.find_first_not_of(" \t\r") != std::string::npos) lines.push_back({&file, number, text});
    }
    if (in.bad()) throw std::runtime_error("conformance: cannot read " + file);
  }
  return lines;
}

struct Counts {
  size_t passed = 0, failed = 0, unsupported = 0;
  void add(Verdict v) { ++(v == Verdict::passed ? passed : v == Verdict::failed ? failed : unsupported); }
  void print(std::ostream& out) const {
    out << passed << " passed, " << failed << " failed, " << unsupported << " unsupported\n";
  }
};

}  // namespace

int conformance(const ConformanceOptions& options) {
  if (options.device != "reference") {
    detail::require_device("conformance", parse_device(options.device), {});
    runtime::mutable_environment().device = options.device;
  }
  const std::vector<Line> lines = read_lines(options.files);
  std::vector<Outcome> outcomes(lines.size());
  std::atomic<size_t> next{0};
  {
    Progress progress(lines.size(), "cases");
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1U, options.jobs); ++i) {
      threads.emplace_back([&] {
        for (size_t k = next++; k < lines.size(); k = next++) {
          outcomes[k] = judge(lines[k], options);
          progress.step();
        }
      });
    }
  }
  if (std::ranges::all_of(outcomes, [](const Outcome& o) { return o.id.empty(); })) {
    if (!options.id.empty()) throw Error("conformance: no case has the id " + options.id);
    if (!options.only.empty()) throw Error("conformance: no case has '" + options.only + "' in its id");
    throw Error("conformance: the files hold no cases");
  }
  Counts all;
  std::map<const std::string*, Counts> of_file;
  for (size_t k = 0; k < lines.size(); ++k) {
    const Outcome& o = outcomes[k];
    if (o.id.empty()) continue;
    all.add(o.verdict);
    of_file[lines[k].file].add(o.verdict);
    if (o.verdict == Verdict::passed) continue;
    std::cout << (o.verdict == Verdict::failed ? "failed " : "unsupported ") << o.id << ": " << o.reason << "\n";
    if (o.verdict == Verdict::failed) std::cout << o.graph;
  }
  if (options.files.size() > 1) {
    for (const std::string& file : options.files) {
      std::cout << file << ": ";
      of_file[&file].print(std::cout);
    }
  }
  all.print(std::cout);
  std::cout.flush();
  return all.failed == 0 ? 0 : 1;
}

}  // namespace calque::cli
