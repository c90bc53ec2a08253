// `calque lower`: compiles a text graph up to one stage and prints that stage.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "calque/commands.h"
#include "calque/files.h"

#include "codegen/codegen.h"
#include "codegen/gpu/device_code.h"
#include "compile/executable.h"
#include "compile/passes.h"

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
  return {read_graph(options.file), {}};
}

/// A compilation before its passes, for the device if it is there; default limits hold otherwise.
struct Lowering {
  explicit Lowering(const Source& source, const LowerOptions& options, PassLog* log = nullptr)
      : c(pipeline_of(options), for_device(options), log), after(runtime::kTracePass.name) {
    c.native.target = {options.cpu, options.triple};
    if (!options.arch.empty()) c.device.arch = options.arch;
    if (options.from.empty()) {
      c.graph = source.graph;
      return;
    }
    after = options.from;
    try {
      runtime::read_back(c, source.text, options.from);
    } catch (const ParseError& e) {
      throw ParseError(options.file + ": " + e.what());
    }
  }

  static runtime::CompileOptions for_device(const LowerOptions& options) {
    runtime::CompileOptions compile = options.compile;
    const Device device = parse_device(options.device);
    if (device.kind == Device::Kind::gpu && static_cast<size_t>(device.index) + 2 < devices().size())
      compile.device = device;
    return compile;
  }

  runtime::Compilation c;
  std::string after;
};

int print_passes(const LowerOptions& options) {
  std::string out;
  for (const runtime::Pass& pass : runtime::passes_of(pipeline_of(options)))
    out += fmt::format("{:26}{}\n", pass.info.name, pass.info.doc);
  write_text(options.output, out);
  return 0;
}

/// The program after one pass of the whole pipeline.
int print_after(const Source& source, const LowerOptions& options) {
  const std::string& pass = options.print_after;
  std::string names;
  bool known = false;
  for (const runtime::Pass& p : runtime::passes_of(pipeline_of(options))) {
    names += (names.empty() ? "" : ", ") + std::string(p.info.name);
    known |= p.info.name == pass;
  }
  if (!known) throw Error("lower: there is no pass " + pass + ", expected one of " + names);
  PassLog log([&](std::string_view p) { return p == pass; });
  if (options.from.empty())
    log.add(runtime::kTracePass.name, 0, PassLog::Over::whole, [&](std::ostream& out) { out << source.graph; });
  Lowering lowering(source, options, &log);
  lowering.c.native.form = codegen::CodegenOptions::Form::object;
  lowering.c.device.form = codegen::DeviceOptions::Form::ptx;
  runtime::run_passes(lowering.c, lowering.after, pass);
  const auto found =
      std::find_if(log.entries().begin(), log.entries().end(), [&](const PassLog::Entry& e) { return e.name == pass; });
  if (found == log.entries().end()) throw Error("lower: the pass " + pass + " does not run here");
  if (found->text.empty()) throw Error("lower: the pass " + pass + " makes nothing that is text");
  write_text(options.output, found->text);
  return 0;
}

/// Whether or not what is printed depends on them: a misspelled name is told.
void check_target(const LowerOptions& options) {
  if (!options.cpu.empty() || !options.triple.empty()) codegen::target_description({options.cpu, options.triple});
  if (!options.arch.empty()) codegen::check_arch(options.arch);
}

std::string plan_text(runtime::Compilation& c, const std::string& after) {
  runtime::run_passes(c, after, runtime::last_program_pass(c.kind));
  std::ostringstream out;
  out << *c.program;
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
  Lowering lowering(source, options);
  runtime::Compilation& c = lowering.c;
  if (options.emit == "plan") {
    write_text(options.output, plan_text(c, lowering.after));
  } else if (options.emit == "llvm") {
    write_text(options.output, runtime::make_llvm_ir(c, lowering.after));
  } else if (gpu || options.emit == "asm") {
    write_text(options.output, runtime::make_assembly(c, lowering.after));
  } else {
    if ((options.output.empty() || options.output == "-") && isatty(STDOUT_FILENO)) {
      throw Error("lower: an object file is not for a terminal; name a file with -o");
    }
    write_text(options.output, runtime::make_object(c, lowering.after));
  }
  return 0;
}

}  // namespace calque::cli
