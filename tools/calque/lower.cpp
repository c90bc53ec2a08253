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

struct Options {
  std::string file, output, emit = "plan", cpu, triple, device = "cpu", arch, print_after;
  bool print_passes = false;
  runtime::CompileOptions compile;
};

std::string dot_of(const Graph& graph) {
  std::ostringstream out;
  graph.to_dot(out);
  return out.str();
}

/// The stages of compilation for a GPU. No GPU needs to be present.
std::string device_text(const Graph& graph, const Options& options, PassLog* log = nullptr) {
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

Device::Kind pipeline_of(const Options& options) { return parse_device(options.device).kind; }

int print_passes(const Options& options) {
  std::string out;
  for (const PassInfo& pass : runtime::pipeline_passes(pipeline_of(options)))
    out += fmt::format("{:26}{}\n", pass.name, pass.doc);
  write_text(options.output, out);
  return 0;
}

/// The program after one pass of the whole pipeline.
int print_after(const Graph& graph, const Options& options) {
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

int lower(const Options& options) {
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

}  // namespace

void add_lower(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("lower", "Prints one stage of a text graph on its way to machine code");
  command->add_option("file", options->file, "The graph (.jaxpr); - is standard input");
  CLI::Option* emit = command->add_option(
      "--emit", options->emit,
      "plan: kernels and the steps of the entry; llvm: optimised LLVM IR; asm: assembly; ptx: code for a "
      "GPU; obj: an object file; dot: the graph for Graphviz");
  emit->check(CLI::IsMember({"plan", "llvm", "asm", "ptx", "obj", "dot"}))->capture_default_str();
  command
      ->add_option("--print-after", options->print_after,
                   "In place of --emit: the graph, plan, kernels, program or module after this pass")
      ->excludes(emit);
  command->add_flag("--print-passes", options->print_passes,
                    "List the passes from a graph to code for --device, in order");
  command->add_option("--cpu", options->cpu, "LLVM's name of the CPU; this machine's when absent");
  command->add_option("--device", options->device, "cpu, or gpu for what a GPU gets")
      ->check(device_name)
      ->capture_default_str();
  command->add_option("--arch", options->arch, "Of PTX: sm_80 to sm_90a; the GPU's own, or sm_80, when absent");
  command->add_option("--triple", options->triple, "LLVM's target triple; this machine's when absent");
  command->add_option("-o,--output", options->output, "Where the result is written; standard output when absent");
  command->add_flag("--strict", options->compile.strict, "Compile without contraction");
  command->add_flag("--fast-math", options->compile.fast_math, "Compile with fast math");
  command->add_flag("--flush-subnormals", options->compile.flush_subnormals, "Compile with subnormals flushed to zero");
  command->callback([options, &status] { status = lower(*options); });
}

}  // namespace calque::cli
