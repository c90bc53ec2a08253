// The stages of compiling one function: graph, plan, LLVM IR, assembly, PTX, executable.
#include <fstream>
#include <sstream>

#include "calque/device.h"
#include "calque/jit.h"

#include "compile/device_executable.h"
#include "compile/executable.h"
#include "compile/passes.h"
#include "runtime/call/branch_call.h"
#include "runtime/call/donation.h"
#include "runtime/call/function_state.h"
#include "runtime/memory/workspace.h"

namespace calque::detail {
std::shared_ptr<const LoweredState> lower_function(const std::shared_ptr<const FunctionState>& function,
                                                   Arguments& arguments, const CallSite& site) {
  arguments.set_options(function->options_word);
  const Device device = runtime::check_leaves(*function, arguments, site);
  runtime::Traced traced = runtime::trace_for(*function, arguments, site, "lower");
  auto lowered = std::make_shared<LoweredState>();
  lowered->function = function;
  lowered->graph = traced.graph;
  lowered->trace_seconds = traced.seconds;
  lowered->entry = runtime::make_entry(arguments, traced, device);
  lowered->options = runtime::compile_options(*function, arguments, *lowered->entry);
  lowered->compilable = std::move(traced.graph);
  lowered->strides = runtime::input_strides(arguments, lowered->compilable);
  return lowered;
}

Graph trace_function(const FunctionState& function, Arguments& arguments, const CallSite& site) {
  arguments.set_options(function.options_word);
  runtime::check_leaves(function, arguments, site);
  return runtime::trace_for(function, arguments, site, "trace").graph;
}

const FunctionState& function_of(const LoweredState& lowered) { return *lowered.function; }

const Graph& lowered_graph(const LoweredState& lowered) { return lowered.graph; }

std::string lowered_plan(const LoweredState& lowered) {
  runtime::Compilation c(lowered.compilable, lowered.strides, lowered.options);
  runtime::run_passes(c, runtime::kTracePass.name, runtime::last_program_pass(c.kind));
  std::ostringstream out;
  out << *c.program;
  return out.str();
}

std::string lowered_llvm_ir(const LoweredState& lowered) {
  runtime::Compilation c(lowered.compilable, lowered.strides, lowered.options);
  return runtime::make_llvm_ir(c, runtime::kTracePass.name);
}

std::string lowered_assembly(const LoweredState& lowered) {
  runtime::Compilation c(lowered.compilable, lowered.strides, lowered.options);
  return runtime::make_assembly(c, runtime::kTracePass.name);
}

std::string lowered_ptx(const LoweredState& lowered) { return runtime::ptx_of(lowered.compilable, lowered.options); }

void compile_lowered(const LoweredState& lowered) {
  {
    const std::lock_guard lock(lowered.compiling);
    if (lowered.entry->executable != nullptr) return;
  }
  // Threads that come here at once find the same executable.
  runtime::CompileReport report;
  report.equations = lowered.compilable.num_equations();
  report.trace = lowered.trace_seconds;
  report.title = lowered.function->title() + where_text(lowered.function->location);
  auto executable = runtime::find_executable(lowered.compilable, lowered.strides, lowered.options, &report);
  runtime::log_compilation(lowered.function->title(), report);
  const std::lock_guard lock(lowered.compiling);
  if (lowered.entry->executable != nullptr) return;
  lowered.entry->executable = std::move(executable);
  lowered.entry->runs_directly = runtime::runs_directly(*lowered.function, *lowered.entry);
}

void call_lowered(const LoweredState& lowered, Arguments& arguments, const CallSite& site, CallResult& result) {
  const FunctionState& function = *lowered.function;
  arguments.set_options(function.options_word);
  if (!(lowered.entry->signature == arguments.words())) {
    runtime::check_leaves(function, arguments, site);
    const auto leaves = arguments.leaves();
    const auto& wanted = lowered.entry->leaves;
    for (size_t i = 0; i < std::min(leaves.size(), wanted.size()); ++i) {
      if (leaves[i].type() == wanted[i]) continue;
      const std::string text = function.title() + ": " + runtime::path_of(site, i) + " was compiled as " +
                               to_string(wanted[i]) + ", got " + to_string(leaves[i].type()) +
                               where_text(function.location);
      if (leaves[i].dtype != wanted[i].dtype) throw DTypeError(text);
      throw ShapeError(text);
    }
    throw ShapeError(function.title() +
                     ": compiled for another layout, structure or static value of its arguments; lower "
                     "it again with these" +
                     where_text(function.location));
  }
  if (arguments.has_spec()) throw ShapeError(function.title() + ": spec stands for a type and cannot be run on");
  runtime::run(function, *lowered.entry, arguments, result);
}

}  // namespace calque::detail
