#include "compile/continue_pipeline.h"

#include <algorithm>
#include <string>

#include "codegen/codegen.h"
#include "compile/device_executable.h"
#include "compile/pipeline.h"
#include "kernel/buffers/workspace.h"
#include "kernel/lower/program_passes.h"
#include "kernel/schedule_cpu/schedule_cpu.h"
#include "kernel/text/parse.h"
#include "transform/simplify/simplify.h"

namespace calque::runtime {
namespace {

bool is_cpu(Device::Kind kind) { return kind == Device::Kind::cpu; }

/// Whether one of the passes, which are PassInfos or have one, has the name.
template <class Passes>
bool has_pass(const Passes& passes, std::string_view name) {
  return std::any_of(std::begin(passes), std::end(passes), [&](const auto& pass) {
    if constexpr (requires { pass.info; })
      return pass.info.name == name;
    else
      return pass.name == name;
  });
}

[[noreturn]] void refuse(std::string_view pass, Device::Kind kind) {
  std::string names;
  const auto add = [&](std::string_view name) { names += (names.empty() ? "" : ", ") + std::string(name); };
  add(kTracePass.name);
  for (const PassInfo& p : transform::simplify_passes()) add(p.name);
  for (const PassInfo& p : {kernel::kPreparePass, kernel::kCanonicalizePass, kernel::kLowerPass}) add(p.name);
  for (const kernel::ProgramPass& p : kernel::program_passes()) add(p.info.name);
  if (!is_cpu(kind))
    for (const kernel::GpuPass& p : kernel::gpu_passes()) add(p.info.name);
  else
    for (const kernel::CpuPass& p : kernel::cpu_passes()) add(p.info.name);
  const bool known = has_pass(pipeline_passes(kind), pass);
  throw Error(
      "lower: " +
      (known ? "the text of " + std::string(pass) + " cannot be read back" : "there is no pass " + std::string(pass)) +
      ", expected one of " + names);
}

Graph read_graph(std::string_view text) {
  Graph graph = parse(text);
  graph.verify("parse");
  if (const auto reason = needs_reference(graph)) throw CompileError("lower: " + *reason);
  return graph;
}

/// From a graph to a program, not yet scheduled for a GPU.
kernel::Program built_program(std::string_view text, std::string_view pass, Device::Kind kind,
                              const CompileOptions& options, PassLog* log) {
  const kernel::BuildOptions build = is_cpu(kind) ? build_options(options, log) : device_build_options(options, log);
  if (pass == kernel::kCanonicalizePass.name) return kernel::build_canonical(read_graph(text), build);
  if (pass == kernel::kPreparePass.name) return kernel::build_prepared(read_graph(text), build);
  if (pass == kTracePass.name || has_pass(transform::simplify_passes(), pass)) {
    const Graph graph = read_graph(text);
    return kernel::build_program(
        is_cpu(kind) ? simplified_graph(graph, options, log) : simplified_for_device(graph, options, log), build);
  }
  if (pass != kernel::kLowerPass.name && !has_pass(kernel::program_passes(), pass)) refuse(pass, kind);
  kernel::Program program = kernel::parse_program(text);
  kernel::run_program_passes(program, pass, build);
  return program;
}

}  // namespace

kernel::Program continued_program(std::string_view text, std::string_view pass, Device::Kind kind,
                                  const CompileOptions& options, PassLog* log) {
  kernel::Program program;
  if (!is_cpu(kind) && has_pass(kernel::gpu_passes(), pass)) {
    program = kernel::parse_program(text);
    kernel::run_gpu_passes(program, pass, gpu_limits(options), log);
  } else if (is_cpu(kind) && kernel::find_cpu_pass(pass) != nullptr) {
    program = kernel::parse_program(text);  // whose schedule codegen continues
  } else {
    program = built_program(text, pass, kind, options, log);
    if (!is_cpu(kind)) kernel::run_gpu_passes(program, {}, gpu_limits(options), log);
  }
  kernel::verify_offsets(program);
  return program;
}

}  // namespace calque::runtime
