// `calque lower`: a text graph as far as one stage of the way to machine code.
#include <sstream>

#include <unistd.h>

#include "calque/commands.h"
#include "calque/files.h"

#include "codegen/codegen.h"
#include "runtime/executable.h"

namespace calque::cli {
namespace {

struct Options {
  std::string file, output, emit = "plan", cpu, triple;
  runtime::CompileOptions compile;
};

std::string dot_of(const Graph& graph) {
  std::ostringstream out;
  graph.to_dot(out);
  return out.str();
}

int lower(const Options& options) {
  const Graph graph = read_graph(options.file);
  if (options.emit == "dot") {
    write_text(options.output, dot_of(graph));
    return 0;
  }
  if (const auto reason = runtime::needs_reference(graph)) throw CompileError("lower: " + *reason);
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
  command->add_option("file", options->file, "The graph (.jaxpr); - is standard input")->required();
  command
      ->add_option("--emit", options->emit,
                   "plan: kernels and the steps of the entry; llvm: optimised LLVM IR; asm: assembly; obj: an object "
                   "file; dot: the graph for Graphviz")
      ->check(CLI::IsMember({"plan", "llvm", "asm", "obj", "dot"}))
      ->capture_default_str();
  command->add_option("--cpu", options->cpu, "LLVM's name of the CPU; this machine's when absent");
  command->add_option("--triple", options->triple, "LLVM's target triple; this machine's when absent");
  command->add_option("-o,--output", options->output, "Where the result is written; standard output when absent");
  command->add_flag("--strict", options->compile.strict, "Compile without contraction");
  command->add_flag("--fast-math", options->compile.fast_math, "Compile with fast math");
  command->callback([options, &status] { status = lower(*options); });
}

}  // namespace calque::cli
