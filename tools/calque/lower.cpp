// `calque lower`: compiles a text graph up to one stage and prints that stage.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "calque/commands.h"
#include "calque/files.h"

#include "codegen/codegen.h"
#include "codegen/gpu/device_code.h"
#include "compile/device_executable.h"
#include "compile/executable.h"

namespace calque::cli {
namespace {

std::string dot_of(const Graph& graph) {
  std::ostringstream out;
  graph.to_dot(out);
  return out.str();
}

/// The stages of compilation for a GPU. No GPU needs to be present.
std::string device_text(const Graph& graph, const LowerOptions& options, PassLog* log = nullptr) {
  runtime::CompileOptions compile = options.compile;
  const Device device = parse_device(options.device);
  if (device.kind == Device::Kind::gpu && static_cast<size_t>(device.index) + 2 < devices().size()) {
    compile.device = device;
  }
  const kernel::Program program =
      runtime::plan_for_device(runtime::simplified_for_device(graph, compile, log), compile, log);
  codegen::DeviceOptions code = runtime::device_code_options(compile);
  if (!options.arch.empty()) code.arch = options.arch;
  code.log = log;
  if (log != nullptr) return codegen::compile_ptx(program, code).ptx;
  if (options.emit == "llvm") return codegen::device_llvm_ir(program, code);
  if (options.emit != "plan") return codegen::compile_ptx(program, code).ptx;
  std::ostringstream out;
  out << program;
  return out.str();
}

Device::Kind pipeline_of(const LowerOptions& options) { return parse_device(options.device).kind; }

int print_passes(const LowerOptions& options) {
  std::string out;
  for (const PassInfo& pass : runtime::pipeline_passes(pipeline_of(options)))
    out += fmt::format("{:26}{}\n", pass.name, pass.doc);
  write_text(options.output, out);
  return 0;
}

/// The program after one pass of the whole pipeline.
int print_after(const Graph& graph, const LowerOptions& options) {
  const std::vector<PassInfo> passes = runtime::pipeline_passes(pipeline_of(options));
  std::string names;
  for (const PassInfo& pass : passes) names += (names.empty() ? "" : ", ") + std::string(pass.name);
  if (std::none_of(passes.begin(), passes.end(), [&](const PassInfo& p) { return p.name == options.print_after; }))
    throw Error("lower: there is no pass " + options.print_after + ", expected one of " + names);
  PassLog log([&](std::string_view pass) { return pass == options.print_after; });
  log.add(runtime::kTracePass.name, 0, PassLog::Over::whole, [&](std::ostream& out) { out << graph; });
  if (options.device == "cpu") {
    const Graph simplified = runtime::simplified_graph(graph, options.compile, &log);
    codegen::CodegenOptions code = runtime::codegen_options(options.compile);
    code.target = {options.cpu, options.triple};
    code.log = &log;
    codegen::object(runtime::plan_graph(simplified, {}, options.compile, &log), code);
  } else {
    device_text(graph, options, &log);
  }
  const auto found = std::find_if(log.entries().begin(), log.entries().end(),
                                  [&](const PassLog::Entry& e) { return e.name == options.print_after; });
  if (found == log.entries().end()) throw Error("lower: the pass " + options.print_after + " does not run here");
  if (found->text.empty()) throw Error("lower: the pass " + options.print_after + " makes nothing that is text");
  write_text(options.output, found->text);
  return 0;
}

}  // namespace

int lower(const LowerOptions& options) {
  if (options.print_passes) return print_passes(options);
  if (options.file.empty()) throw Error("lower: expected a file");
  const Graph graph = read_graph(options.file);
  if (options.emit == "dot") {
    write_text(options.output, dot_of(graph));
    return 0;
  }
  if (const auto reason = runtime::needs_reference(graph)) throw CompileError("lower: " + *reason);
  if (!options.print_after.empty()) return print_after(graph, options);
  if (options.emit == "ptx" || options.device != "cpu") {
    if (options.emit == "obj") throw CompileError("lower: a GPU has no object files; --emit=ptx prints its code");
    write_text(options.output, device_text(graph, options));
    return 0;
  }
  const kernel::Program program =
      runtime::plan_graph(runtime::simplified_graph(graph, options.compile), {}, options.compile);
  codegen::CodegenOptions code = runtime::codegen_options(options.compile);
  code.target = {options.cpu, options.triple};
  if (options.emit == "plan") {
    std::ostringstream out;
    out << program;
    write_text(options.output, out.str());
  } else if (options.emit == "llvm") {
    write_text(options.output, codegen::llvm_ir(program, code));
  } else if (options.emit == "asm") {
    write_text(options.output, codegen::assembly(program, code));
  } else {
    if ((options.output.empty() || options.output == "-") && isatty(STDOUT_FILENO)) {
      throw Error("lower: an object file is not for a terminal; name a file with -o");
    }
    write_text(options.output, codegen::object(program, code));
  }
  return 0;
}

}  // namespace calque::cli
