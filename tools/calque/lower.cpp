// `calque lower`: compiles a text graph up to one stage and prints that stage.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "calque/commands.h"
#include "calque/files.h"

#include "codegen/codegen.h"
#include "codegen/gpu/device_code.h"
#include "compile/continue_pipeline.h"
#include "compile/device_executable.h"
#include "compile/executable.h"
#include "kernel/schedule_cpu/schedule_cpu.h"

namespace calque::cli {
namespace {

std::string dot_of(const Graph& graph) {
  std::ostringstream out;
  graph.to_dot(out);
  return out.str();
}

Device::Kind pipeline_of(const LowerOptions& options) {
  return options.emit == "ptx" ? Device::Kind::gpu : parse_device(options.device).kind;
}

/// What is compiled: a graph or, with --from, the text after a pass.
struct Source {
  Graph graph;
  std::string text;
};

Source read_source(const LowerOptions& options) {
  if (!options.from.empty()) return {{}, read_text(options.file)};
  Graph graph = read_graph(options.file);
  if (const auto reason = runtime::needs_reference(graph)) throw CompileError("lower: " + *reason);
  return {std::move(graph), {}};
}

/// The options for the device if it is there; default limits hold otherwise.
runtime::CompileOptions device_options(const LowerOptions& options) {
  runtime::CompileOptions compile = options.compile;
  const Device device = parse_device(options.device);
  if (device.kind == Device::Kind::gpu && static_cast<size_t>(device.index) + 2 < devices().size())
    compile.device = device;
  return compile;
}

/// The program before code generation.
kernel::Program program_of(const Source& source, const LowerOptions& options, PassLog* log = nullptr) {
  const Device::Kind kind = pipeline_of(options);
  const runtime::CompileOptions compile = device_options(options);
  if (options.from.empty()) {
    if (kind == Device::Kind::cpu)
      return runtime::plan_graph(runtime::simplified_graph(source.graph, compile, log), {}, compile, log);
    return runtime::plan_for_device(runtime::simplified_for_device(source.graph, compile, log), compile, log);
  }
  try {
    return runtime::continued_program(source.text, options.from, kind, compile, log);
  } catch (const ParseError& e) {
    throw ParseError(options.file + ": " + e.what());
  }
}

codegen::CodegenOptions cpu_options(const LowerOptions& options, PassLog* log = nullptr) {
  codegen::CodegenOptions code = runtime::codegen_options(options.compile);
  code.target = {options.cpu, options.triple};
  code.log = log;
  if (kernel::find_cpu_pass(options.from) != nullptr) code.scheduled_after = options.from;
  return code;
}

codegen::DeviceOptions gpu_options(const LowerOptions& options, PassLog* log = nullptr) {
  codegen::DeviceOptions code = runtime::device_code_options(device_options(options));
  if (!options.arch.empty()) code.arch = options.arch;
  code.log = log;
  return code;
}

int print_passes(const LowerOptions& options) {
  std::string out;
  for (const PassInfo& pass : runtime::pipeline_passes(pipeline_of(options)))
    out += fmt::format("{:26}{}\n", pass.name, pass.doc);
  write_text(options.output, out);
  return 0;
}

/// The program after one pass of the whole pipeline.
int print_after(const Source& source, const LowerOptions& options) {
  const std::vector<PassInfo> passes = runtime::pipeline_passes(pipeline_of(options));
  std::string names;
  for (const PassInfo& pass : passes) names += (names.empty() ? "" : ", ") + std::string(pass.name);
  if (std::none_of(passes.begin(), passes.end(), [&](const PassInfo& p) { return p.name == options.print_after; }))
    throw Error("lower: there is no pass " + options.print_after + ", expected one of " + names);
  PassLog log([&](std::string_view pass) { return pass == options.print_after; });
  if (options.from.empty())
    log.add(runtime::kTracePass.name, 0, PassLog::Over::whole, [&](std::ostream& out) { out << source.graph; });
  const kernel::Program program = program_of(source, options, &log);
  if (pipeline_of(options) == Device::Kind::cpu)
    codegen::object(program, cpu_options(options, &log));
  else
    codegen::compile_ptx(program, gpu_options(options, &log));
  const auto found = std::find_if(log.entries().begin(), log.entries().end(),
                                  [&](const PassLog::Entry& e) { return e.name == options.print_after; });
  if (found == log.entries().end()) throw Error("lower: the pass " + options.print_after + " does not run here");
  if (found->text.empty()) throw Error("lower: the pass " + options.print_after + " makes nothing that is text");
  write_text(options.output, found->text);
  return 0;
}

/// Whether or not what is printed depends on them: a misspelled name is told.
void check_target(const LowerOptions& options) {
  if (!options.cpu.empty() || !options.triple.empty()) codegen::target_description({options.cpu, options.triple});
  if (!options.arch.empty()) codegen::check_arch(options.arch);
}

std::string plan_text(const kernel::Program& program) {
  std::ostringstream out;
  out << program;
  return out.str();
}

}  // namespace

int lower(const LowerOptions& options) {
  check_target(options);
  if (options.print_passes) return print_passes(options);
  if (options.file.empty()) throw Error("lower: expected a file");
  if (options.emit == "dot") {
    if (!options.from.empty()) throw Error("lower: --emit=dot draws graphs and does not go with --from");
    write_text(options.output, dot_of(read_graph(options.file)));
    return 0;
  }
  const Source source = read_source(options);
  if (!options.print_after.empty()) return print_after(source, options);
  const bool gpu = pipeline_of(options) != Device::Kind::cpu;
  if (gpu && options.emit == "obj") throw CompileError("lower: a GPU has no object files; --emit=ptx prints its code");
  const kernel::Program program = program_of(source, options);
  if (options.emit == "plan") {
    write_text(options.output, plan_text(program));
  } else if (gpu) {
    const codegen::DeviceOptions code = gpu_options(options);
    write_text(options.output, options.emit == "llvm" ? codegen::device_llvm_ir(program, code)
                                                      : codegen::compile_ptx(program, code).ptx);
  } else if (options.emit == "llvm") {
    write_text(options.output, codegen::llvm_ir(program, cpu_options(options)));
  } else if (options.emit == "asm") {
    write_text(options.output, codegen::assembly(program, cpu_options(options)));
  } else {
    if ((options.output.empty() || options.output == "-") && isatty(STDOUT_FILENO)) {
      throw Error("lower: an object file is not for a terminal; name a file with -o");
    }
    write_text(options.output, codegen::object(program, cpu_options(options)));
  }
  return 0;
}

}  // namespace calque::cli
