#include "compile/pipeline.h"

#include <algorithm>
#include <sstream>

#include "calque/ir/errors.h"

#include "codegen/llvm/target.h"
#include "compile/background.h"
#include "compile/compiler.h"
#include "compile/stored_code.h"
#include "compile/watchdog.h"
#include "ir/fork.h"
#include "ir/log.h"
#include "ir/stopwatch.h"
#include "kernel/lower/build.h"
#include "kernel/schedule_cpu/schedule_cpu.h"
#include "runtime/process/environment.h"
#include "runtime/process/parallel.h"
#include "transform/simplify/simplify.h"

namespace calque::runtime {

Graph simplified_graph(const Graph& graph, const CompileOptions& options, PassLog* log) {
  return transform::simplify(graph, transform::InlineScope::all, codegen::math_forms(codegen_options(options)), log);
}

kernel::Program plan_graph(const Graph& simplified, std::span<const Strides> strides, const CompileOptions& options,
                           PassLog* log) {
  kernel::BuildOptions build = build_options(options, log);
  build.input_strides.assign(strides.begin(), strides.end());
  return kernel::build_program(simplified, build);
}

kernel::BuildOptions build_options(const CompileOptions& options, PassLog* log) {
  kernel::BuildOptions build;
  build.donated = options.donated;
  build.parallel_loops = options.strict ? kernel::ParallelLoops::maps : kernel::ParallelLoops::sums;
  build.log = log;
  return build;
}

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
  return out.str();
}

codegen::CodegenOptions codegen_options(const CompileOptions& options) {
  codegen::CodegenOptions o;
  o.strict = options.strict;
  o.fast_math = options.fast_math;
  o.flush_subnormals = options.flush_subnormals || options.fast_math;
  o.sanitize = environment().sanitize;
  o.watch = compile_watchdog();
  return o;
}

namespace {

/// Whether calls may run quickly made code first. With fast_math optimization changes bits; dumps and sanitizers are
/// for the code that stays; with one thread everything runs on the calling thread.
bool is_tiered(const CompileOptions& options) {
  return options.tier == tier::automatic && options.compiles_tiers() && !options.fast_math &&
         environment().dump.empty() && !environment().sanitize && num_threads() > 1 && can_optimize_later();
}

}  // namespace

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
  const Graph simplified = simplified_graph(graph, options, &report.passes);
  const auto program =
      std::make_shared<const kernel::Program>(plan_graph(simplified, strides, options, &report.passes));
  report.kernels = program->kernels.size();
  auto executable = std::make_shared<Executable>();
  codegen::CodegenOptions code = codegen_options(options);
  code.parallel_for = &parallel_for;
  code.log = &report.passes;
  if (options.scalar_arguments >= 0) {
    code.scalar_arguments.emplace();
    for (int i = 0; i < options.scalar_arguments; ++i)
      code.scalar_arguments->push_back(graph.dtype(graph.inputs()[static_cast<size_t>(i)]));
  }
  code.quick = options.tier == tier::quick && options.compiles_tiers() && !options.fast_math;
  // The background thread must not own functions of the user: they may be destroyed, and unloaded, with the callable.
  code.quick_if_large = is_tiered(options) && program->host_functions.empty();
  codegen::CodeImage image;
  if (!stored_key.empty()) code.image = &image;
  executable->code = codegen::compile(*program, code);
  executable->workspace_bytes = program->workspace_bytes;
  executable->in_place = program->in_place;
  executable->host_functions = program->host_functions;
  executable->constant_arrays = program->constants;
  set_interface(*executable, graph, strides);
  executable->is_tiered = code.quick_if_large && executable->code->is_quick();
  if (executable->is_tiered) {
    executable->awaits_optimized = true;
    optimize_later(executable, program, code, stored_key, title_of(report, graph), report.equations);
  } else {
    store_executable(stored_key, *executable, image, report.kernels);
  }
  return executable;
}

namespace {

class HostCompiler final : public Compiler {
 public:
  std::vector<PassInfo> passes() const override {
    std::vector<PassInfo> passes = {kTracePass};
    const auto add = [&](const auto& more) { passes.insert(passes.end(), std::begin(more), std::end(more)); };
    add(transform::simplify_passes());
    add(kernel::build_passes(kernel::ParallelLoops::sums));
    for (const kernel::CpuPass& pass : kernel::cpu_passes()) passes.push_back(pass.info);
    add(codegen::codegen_passes());
    return passes;
  }
  Graph simplify(const Graph& graph, const CompileOptions& options, PassLog* log) const override {
    return simplified_graph(graph, options, log);
  }
  kernel::Program plan(const Graph& simplified, std::span<const Strides> strides, const CompileOptions& options,
                       PassLog* log) const override {
    return plan_graph(simplified, strides, options, log);
  }
  std::string llvm_ir(const kernel::Program& program, const CompileOptions& options) const override {
    return codegen::llvm_ir(program, codegen_options(options));
  }
  std::string assembly(const kernel::Program& program, const CompileOptions& options) const override {
    return codegen::assembly(program, codegen_options(options));
  }
  std::shared_ptr<const Executable> compile(const Graph& graph, std::span<const Strides> strides,
                                            const CompileOptions& options, const std::string& stored_key,
                                            CompileReport& report) const override {
    // In destructors of static objects LLVM may already be shut down.
    if (options.reference || !codegen::can_compile()) return make_reference_executable(graph, strides, options);
    if (const auto reason = needs_reference(graph)) {
      library_log().info("{}: runs on the reference evaluator: {}", graph.name(), *reason);
      return make_reference_executable(graph, strides, options);
    }
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

std::vector<PassInfo> pipeline_passes(Device::Kind kind) { return compiler_of(kind).passes(); }

std::string target_key() { return codegen::host_description(); }

}  // namespace calque::runtime
