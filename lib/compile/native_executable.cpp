#include "compile/native_executable.h"

#include <algorithm>
#include <sstream>

#include "calque/ir/errors.h"

#include "codegen/llvm/target.h"
#include "compile/background.h"
#include "compile/compiler.h"
#include "compile/passes.h"
#include "compile/stored_code.h"
#include "ir/fork.h"
#include "ir/log.h"
#include "kernel/ir/walk.h"
#include "kernel/ir/work.h"
#include "runtime/process/environment.h"
#include "runtime/process/parallel.h"

namespace calque::runtime {

namespace {

/// The largest private memory per thread of parallel loops.
int64_t private_bytes(const std::vector<kernel::Step>& steps) {
  int64_t most = 0;
  for (const kernel::Step& step : steps) {
    most = std::max(most, step.private_bytes);
    for (const auto& block : step.blocks) most = std::max(most, private_bytes(block));
  }
  return most;
}

/// Calls of collectives that write their result into the memory of their operand.
void list_aliased(const kernel::Program& program, const std::vector<kernel::Step>& steps, std::ostream& out) {
  for (const kernel::Step& step : steps) {
    for (const auto& block : step.blocks) list_aliased(program, block, out);
    if (step.kind != kernel::StepKind::host_call || step.views.size() != 2 || step.views[0] != step.views[1]) continue;
    const kernel::HostFunctionRef& f = program.host_functions[static_cast<size_t>(step.host_function)];
    if (f.collective && f.phase != kernel::CallPhase::finish)
      out << "  in place: " << f.primitive << " of " << to_string(f.arguments[0]) << where_text(f.location) << "\n";
  }
}

}  // namespace

std::string explain_plan(const kernel::Program& program) {
  std::ostringstream out;
  out << program.kernels.size() << (program.kernels.size() == 1 ? " kernel, " : " kernels, ") << program.workspace_bytes
      << " bytes of workspace";
  if (const int64_t bytes = private_bytes(program.steps); bytes > 0) out << ", " << bytes << " for each thread";
  out << "\n";
  for (const kernel::Kernel& k : program.kernels) {
    out << "  " << k.name << ": reads " << k.bytes_read << " bytes, writes " << k.bytes_written << " bytes, " << k.flops
        << " flops\n";
  }
  for (const std::string& remark : program.remarks) out << "  not fused: " << remark << "\n";
  for (const std::string& remark : program.copied) out << "  copied: " << remark << "\n";
  list_aliased(program, program.steps, out);
  for (const kernel::HostFunctionRef& f : program.host_functions) {
    if (f.phase == kernel::CallPhase::start)
      out << "  overlapped: " << f.primitive << " of " << to_string(f.arguments[0]) << where_text(f.location) << "\n";
  }
  for (const std::string& remark : program.awaited) out << "  not overlapped: " << remark << "\n";
  return out.str();
}

namespace {

/// The number of LLVM instructions above which a program runs quickly made code first: if optimizing it takes longer
/// than a call loses, and long enough to be noticed.
size_t most_optimized_at_once(const kernel::Program& program) {
  // Nanoseconds: quickly made code loses this much for an executed instruction, and is made so much sooner.
  constexpr double kLost = 1, kSaved = 8000;
  constexpr double kLeast = 100;
  return static_cast<size_t>(std::clamp(kernel::executed_instructions(program) * kLost / kSaved, kLeast, 1e9));
}

size_t num_computations(const kernel::Program& program) {
  size_t n = 0;
  for (const kernel::Kernel& k : program.kernels)
    n += kernel::count_if(k.body, [](const kernel::Instruction& i) { return i.op != kernel::Op::constant; });
  return n;
}

codegen::CodegenOptions native_options(const Graph& graph, const CompileOptions& options) {
  codegen::CodegenOptions code = codegen_options(options);
  code.parallel_for = &parallel_for;
  if (options.scalar_arguments >= 0) {
    code.scalar_arguments.emplace();
    for (int i = 0; i < options.scalar_arguments; ++i)
      code.scalar_arguments->push_back(graph.dtype(graph.inputs()[static_cast<size_t>(i)]));
  }
  return code;
}

}  // namespace

// With fast_math optimization changes bits; dumps and sanitizers are for the code that stays; with one thread
// everything runs on the calling thread.
bool may_run_quick_code_first(const CompileOptions& options) {
  return options.tier == tier::automatic && options.compiles_tiers() && !options.fast_math &&
         environment().dump.empty() && !environment().sanitize && num_threads() > 1 && can_optimize_later();
}

void optimize_stored(const std::shared_ptr<Executable>& executable, const Graph& graph,
                     std::span<const Strides> strides, const CompileOptions& options, const std::string& stored_key,
                     const CompileReport& report) {
  executable->is_tiered = true;
  executable->awaits_optimized = true;
  optimize_later(executable, {.program = nullptr,
                              .graph = graph,
                              .strides = {strides.begin(), strides.end()},
                              .options = options,
                              .code = native_options(graph, options),
                              .stored_key = stored_key,
                              .title = title_of(report, graph),
                              .equations = report.equations});
}

void set_interface(Executable& executable, const Graph& graph, std::span<const Strides> strides) {
  executable.entry = executable.code->entry();
  executable.inputs = graph.input_types();
  executable.set_outputs(graph.output_types());
  for (size_t i = 0; i < executable.inputs.size(); ++i) {
    executable.input_strides.push_back(
        i < strides.size() && !strides[i].empty() ? strides[i] : row_major_strides(executable.inputs[i].shape));
  }
  for (const AnyArray& a : executable.constant_arrays) executable.constants.push_back(a.data());
}

std::shared_ptr<const Executable> make_native_executable(const Graph& graph, std::span<const Strides> strides,
                                                         const CompileOptions& options, const std::string& stored_key,
                                                         CompileReport& report) {
  Compilation c(graph, strides, options, &report.passes);
  codegen::CodegenOptions& code = c.native;
  PassLog* const log = code.log;
  code = native_options(graph, options);
  code.log = log;
  code.quick = options.tier == tier::quick && options.compiles_tiers() && !options.fast_math;
  codegen::CodeImage image;
  if (!stored_key.empty()) code.image = &image;
  const std::string_view schedule = last_program_pass(Device::Kind::cpu);
  run_passes(c, kTracePass.name, schedule);
  // The background thread must not own functions of the user: they may be destroyed, and unloaded, with the callable.
  const bool is_tiered = may_run_quick_code_first(options) && !calls_host(graph);
  if (is_tiered) {
    code.quick_above = most_optimized_at_once(*c.program);
    // Kernels of so many instructions have no fewer of LLVM's: their schedule is one for quick code.
    code.quick = num_computations(*c.program) > code.quick_above;
  }
  run_passes(c, schedule);
  const kernel::Program& program = *c.program;
  report.kernels = program.kernels.size();
  auto executable = std::make_shared<Executable>();
  executable->code = c.native_code->linked();
  // No fork happens while it lives, and optimize_later waits for forks.
  c.native_code.reset();
  executable->workspace_bytes = program.workspace_bytes;
  executable->in_place = program.in_place;
  executable->host_functions = program.host_functions;
  executable->routines = program.routines;
  executable->constant_arrays = program.constants;
  set_interface(*executable, graph, strides);
  executable->is_tiered = is_tiered && executable->code->is_quick();
  // Quickly made code is stored too, for processes that end before it is replaced.
  store_executable(stored_key, *executable, image, report.kernels);
  if (executable->is_tiered) {
    executable->awaits_optimized = true;
    optimize_later(executable, {.program = c.program,
                                .graph = std::nullopt,
                                .strides = {},
                                .options = options,
                                .code = code,
                                .stored_key = stored_key,
                                .title = title_of(report, graph),
                                .equations = report.equations});
  }
  return executable;
}

namespace {

class HostCompiler final : public Compiler {
 public:
  std::shared_ptr<const Executable> compile(const Graph& graph, std::span<const Strides> strides,
                                            const CompileOptions& options, const std::string& stored_key,
                                            CompileReport& report) const override {
    // In destructors of static objects LLVM may already be shut down.
    if (options.reference || !codegen::can_compile()) return make_reference_executable(graph, strides, options);
    try {
      return make_native_executable(graph, strides, options, stored_key, report);
    } catch (const CompileError&) {
      if (codegen::can_compile()) throw;
      return make_reference_executable(graph, strides, options);  // LLVM was shut down during compilation
    }
  }
};

}  // namespace

const Compiler& host_compiler() {
  return process_wide([] { return new const HostCompiler; });
}

const Compiler& compiler_of(Device::Kind kind) {
  return kind == Device::Kind::cpu ? host_compiler() : kernel_device_compiler();
}

std::string target_key() { return codegen::host_description(); }

}  // namespace calque::runtime
