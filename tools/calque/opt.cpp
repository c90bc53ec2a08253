// `calque opt`: text graph in, passes and transformations, text graph out.
#include <algorithm>
#include <charconv>
#include <memory>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "calque/commands.h"
#include "calque/conformance/case_transforms.h"
#include "calque/files.h"
#include "calque/ir/errors.h"

#include "codegen/codegen.h"
#include "compile/passes.h"
#include "ir/text/text.h"
#include "kernel/lower/program_passes.h"
#include "kernel/schedule/passes.h"
#include "kernel/schedule_cpu/schedule_cpu.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "kernel/text/parse.h"
#include "plan/plan.h"
#include "transform/simplify/passes.h"

namespace calque::cli {
namespace {

/// A pass, or a transformation with the value after its `=`.
struct Step {
  std::string name, value;
  bool is_pass = false;
};

constexpr TransformationFlag kTransformations[] = {
    {"grad", "0", "Gradient of the scalar output with respect to the first input; --grad=0,2: to these inputs"},
    {"value-and-grad", "0", "Like --grad, preceded by the output itself"},
    {"vjp", "", "Outputs and, given a cotangent for each, cotangents of the inputs"},
    {"jvp", "", "Outputs and, given a tangent for each input, tangents of the outputs"},
    {"linearize", "", "Like --jvp by partial evaluation: the known part does not depend on tangents"},
    {"jacfwd", "0",
     "Jacobians of the outputs with respect to the first input, in forward mode; --jacfwd=0,2: to these inputs"},
    {"jacrev", "0", "Like --jacfwd, in reverse mode"},
    {"hessian", "0", "Second derivatives of the outputs with respect to the first input"},
    {"vmap", "8", "Batches of 8 examples along axis 0; --vmap=4:1,none for 4 along axis 1 of the first input alone"},
    {"checkpoint", "", "Derivatives recompute all intermediate values"},
};

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

int64_t number(const std::string& text, const std::string& option) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw Error("opt: --" + option + " expects numbers, got '" + text + "'");
}

// ---- transformations, in the notation of conformance cases

struct Application {
  Json json;
  std::vector<Type> types;  ///< of the transformed graph's inputs
};

Application batching(const Step& step, std::vector<Type> types) {
  const std::vector<std::string> parts = split_at(step.value, ':');
  const int64_t size = number(parts.empty() ? "" : parts[0], step.name);
  if (size < 0 || parts.size() > 2) throw Error("opt: --vmap expects SIZE or SIZE:AXIS,..., got " + step.value);
  const std::vector<std::string> axes =
      parts.size() == 2 ? split_at(parts[1], ',') : std::vector<std::string>(types.size(), "0");
  if (axes.size() != types.size()) {
    throw Error("opt: --vmap has " + std::to_string(axes.size()) + " axes for " + std::to_string(types.size()) +
                " inputs");
  }
  Json in_axes = Json::array();
  for (size_t i = 0; i < types.size(); ++i) {
    if (axes[i] == "none") {
      in_axes.push_back(nullptr);
      continue;
    }
    int64_t axis = number(axes[i], step.name);
    const int64_t rank = types[i].shape.rank() + 1;
    if (axis < -rank || axis >= rank) {
      throw ShapeError("opt: --vmap: axis " + axes[i] + " is out of range for " + to_string(types[i]) +
                       " and one more dimension");
    }
    if (axis < 0) axis += rank;
    in_axes.push_back(axis);
    types[i].shape = types[i].shape.with_inserted(static_cast<size_t>(axis), size);
  }
  return {{{"kind", "vmap"}, {"in_axes", in_axes}}, types};
}

Application application(const Step& step, const Graph& graph) {
  std::vector<Type> types = graph.input_types();
  if (step.name == "vmap") return batching(step, types);
  std::string kind = step.name;
  std::replace(kind.begin(), kind.end(), '-', '_');
  Json json{{"kind", kind}};
  const std::vector<Type> more = kind == "vjp" ? graph.output_types() : types;
  if (kind == "vjp") json["inputs"] = types.size();
  if (kind == "vjp" || kind == "jvp" || kind == "linearize") types.insert(types.end(), more.begin(), more.end());
  for (const std::string& n : split_at(step.value, ',')) {
    const int64_t position = number(n, step.name);
    if (position < 0) throw Error("opt: --" + step.name + " expects positions of inputs, got " + n);
    json["argnums"].push_back(position);
  }
  return {json, types};
}

Graph applied(const Step& step, const Graph& graph) {
  if (step.is_pass) return transform::run_pass(transform::find_pass(step.name), graph);
  const Application a = application(step, graph);
  const Json holder{{"transform", Json::array({a.json})}};
  Graph result = CaseTransforms(holder, a.types, {}).apply({graph, 0}).graph;
  result.set_name(graph.name());
  return result;
}

// ---- the command

std::vector<Step> steps_of(const OptOptions& options) {
  std::vector<Step> steps;
  for (const auto& [name, value] : options.steps) {
    if (name != "pass") {
      steps.push_back({name, value, false});
      continue;
    }
    for (const std::string& pass : split_at(value, ','))
      steps.push_back({std::string(transform::find_pass(pass).info.name), {}, true});
  }
  return steps;
}

std::vector<std::string> names_of_passes(const OptOptions& options) {
  std::vector<std::string> names;
  for (const auto& [step, value] : options.steps)
    for (std::string& name : split_at(value, ',')) names.push_back(std::move(name));
  return names;
}

using ListedPass = std::pair<const runtime::Pass*, Device::Kind>;

/// The pass of that name over plans and programs, for a CPU or a GPU.
ListedPass listed_pass(const std::string& name) {
  std::string names;
  for (const Device::Kind kind : {Device::Kind::cpu, Device::Kind::gpu})
    for (const runtime::Pass& pass : runtime::passes_of(kind)) {
      if (pass.form != runtime::Form::plan && pass.form != runtime::Form::program) continue;
      if (pass.info.name == name) return {&pass, kind};
      if (names.find(pass.info.name) == names.npos) names += (names.empty() ? "" : ", ") + std::string(pass.info.name);
    }
  throw CompileError("passes: there is no pass " + name + " over plans and programs, expected one of " + names);
}

/// Passes over the graph, plan or program of a text.
int opt_listed(const OptOptions& options, const std::string& text, const codegen::CodegenOptions& code) {
  std::vector<ListedPass> passes;
  for (const std::string& name : names_of_passes(options)) passes.push_back(listed_pass(name));
  runtime::Compilation c(Device::Kind::cpu, {});
  c.native.target = code.target;
  const bool is_program = kernel::is_program(text), is_plan = !is_program && plan::has_section(text);
  runtime::Form form = is_program ? runtime::Form::program : is_plan ? runtime::Form::plan : runtime::Form::graph;
  try {
    runtime::read_back(c, text, is_program ? "lower" : is_plan ? "materialize" : "canonicalize");
  } catch (const ParseError& e) {
    throw ParseError(options.file + ": " + e.what());
  }
  for (const auto& [pass, kind] : passes) {
    const bool takes_program = pass->form == runtime::Form::program && pass->info.name != "lower";
    if (takes_program != (form == runtime::Form::program))
      throw CompileError("passes: " + std::string(pass->info.name) + " is over " +
                         (takes_program ? "programs" : "graphs and plans"));
    if (kind == Device::Kind::cpu) {
      c.schedule.reset();  // passes may run in any order
      pass->run(c);
    } else {
      runtime::Compilation gpu(kind, {});
      gpu.program = c.program;
      pass->run(gpu);
    }
    form = pass->form;
    runtime::verify(c, form, pass->info.name);
  }
  std::ostringstream out;
  runtime::print(out, c, form);
  write_text(options.output, out.str());
  return 0;
}

/// Kernel passes over the kernels of a text. Buffers that are bound to the same memory are not known to the text.
int opt_kernels(const OptOptions& options) {
  for (const auto& [name, value] : options.steps)
    if (name != "pass") throw Error("opt: --" + name + " is not for kernels");
  if (options.table) throw Error("opt: --table is not for kernels");
  const std::string text = read_text(options.file);
  codegen::CodegenOptions code;
  code.target.cpu = options.cpu;
  codegen::target_description(code.target);  // throws for a CPU that does not exist, whatever the passes
  if (kernel::is_program(text) || text::begins_with(text, "calque ")) return opt_listed(options, text, code);
  const std::vector<std::string> passes = names_of_passes(options);
  for (const std::string& name : passes)
    if (kernel::find_cpu_pass(name) == nullptr) kernel::find_kernel_pass(name);  // throws if there is none
  std::vector<kernel::Kernel> kernels;
  try {
    kernels = kernel::parse_kernels(text);
  } catch (const ParseError& e) {
    throw ParseError(options.file + ": " + e.what());
  }
  std::ostringstream out;
  for (kernel::Kernel& k : kernels) {
    std::vector<kernel::View> views;
    for (size_t i = 0; i < k.num_parameters(); ++i) views.push_back({static_cast<int32_t>(i), 0, {}, {}});
    for (const std::string& name : passes) {
      if (const kernel::CpuPass* pass = kernel::find_cpu_pass(name))
        kernel::run_cpu_pass(*pass, k, codegen::target_limits(code));
      else
        kernel::find_kernel_pass(name).run(k, views);
      verify(k);
    }
    out << k;
  }
  write_text(options.output, out.str());
  return 0;
}

}  // namespace

std::span<const TransformationFlag> transformation_flags() { return kTransformations; }

std::string list_of_passes() {
  std::string out;
  const auto add = [&](const PassInfo& pass) { out += fmt::format("\n  {:26}  {}", pass.name, pass.doc); };
  for (const transform::Pass& pass : transform::passes()) add(pass.info);
  out += "\nPasses over kernels, alone or of a program (--kernel), in their order:";
  for (const kernel::KernelPass& pass : kernel::kernel_passes()) add(pass.info);
  out += "\nPasses over kernels for a processor (--kernel), in their order:";
  for (const kernel::CpuPass& pass : kernel::cpu_passes()) add(pass.info);
  out += "\nPasses over programs (--kernel), in their order:";
  for (const kernel::ProgramPass& pass : kernel::program_passes().subspan(kernel::kernel_passes().size()))
    add(pass.info);
  for (const kernel::GpuPass& pass : kernel::gpu_passes()) add(pass.info);
  return out;
}

int opt(const OptOptions& options) {
  if (options.kernel) return opt_kernels(options);
  const std::vector<Step> steps = steps_of(options);
  Graph graph = read_graph(options.file);
  for (const Step& step : steps) {
    graph = applied(step, graph);
    graph.verify(step.name);
  }
  std::ostringstream out;
  if (options.table) {
    graph.print_tabular(out);
  } else {
    out << graph;
  }
  write_text(options.output, out.str());
  return 0;
}

}  // namespace calque::cli
