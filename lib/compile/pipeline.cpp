#include "compile/pipeline.h"

#include <algorithm>
#include <sstream>

#include "calque/device.h"

#include "codegen/gpu/device_code.h"
#include "codegen/llvm/target.h"
#include "compile/device_executable.h"
#include "ir/stopwatch.h"
#include "kernel/lower/build.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "runtime/process/environment.h"
#include "runtime/process/parallel.h"
#include "transform/simplify/simplify.h"

namespace calque::runtime {

Graph simplified_graph(const Graph& graph, const CompileOptions& options, PassLog* log) {
  return transform::simplify(graph, transform::InlineScope::all, codegen::math_forms(codegen_options(options)), log);
}

kernel::Program plan_graph(const Graph& simplified, std::span<const Strides> strides, const CompileOptions& options,
                           PassLog* log) {
  kernel::BuildOptions build;
  build.input_strides.assign(strides.begin(), strides.end());
  build.donated = options.donated;
  build.parallel_loops = options.strict ? kernel::ParallelLoops::maps : kernel::ParallelLoops::sums;
  build.log = log;
  return kernel::build_program(simplified, build);
}

std::vector<PassInfo> pipeline_passes(Device::Kind kind) {
  std::vector<PassInfo> passes = {kTracePass};
  const auto add = [&](const auto& more) { passes.insert(passes.end(), std::begin(more), std::end(more)); };
  add(transform::simplify_passes());
  add(kernel::program_passes(kind == Device::Kind::cpu ? kernel::ParallelLoops::sums : kernel::ParallelLoops::none));
  if (kind == Device::Kind::cpu) {
    add(codegen::codegen_passes());
  } else {
    passes.push_back(kernel::kScheduleGpuPass);
    add(codegen::device_passes());
  }
  return passes;
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

std::string explain_plan(const Graph& simplified, std::span<const Strides> strides, const CompileOptions& options) {
  const kernel::Program program =
      options.device == cpu() ? plan_graph(simplified, strides, options) : plan_for_device(simplified, options);
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
  return o;
}

std::shared_ptr<const Executable> make_native_executable(const Graph& graph, std::span<const Strides> strides,
                                                         const CompileOptions& options, CompileReport& report) {
  const Graph simplified = simplified_graph(graph, options, &report.passes);
  kernel::Program program = plan_graph(simplified, strides, options, &report.passes);
  report.kernels = program.kernels.size();
  auto executable = std::make_shared<Executable>();
  codegen::CodegenOptions code = codegen_options(options);
  code.parallel_for = &parallel_for;
  code.log = &report.passes;
  if (options.scalar_arguments >= 0) {
    code.scalar_arguments.emplace();
    for (int i = 0; i < options.scalar_arguments; ++i)
      code.scalar_arguments->push_back(graph.dtype(graph.inputs()[static_cast<size_t>(i)]));
  }
  executable->code = codegen::compile(program, code);
  executable->entry = executable->code->entry();
  executable->inputs = graph.input_types();
  executable->set_outputs(graph.output_types());
  for (size_t i = 0; i < executable->inputs.size(); ++i) {
    executable->input_strides.push_back(
        i < strides.size() && !strides[i].empty() ? strides[i] : row_major_strides(executable->inputs[i].shape));
  }
  executable->workspace_bytes = program.workspace_bytes;
  executable->in_place = std::move(program.in_place);
  executable->host_functions = std::move(program.host_functions);
  executable->constant_arrays = std::move(program.constants);
  for (const AnyArray& a : executable->constant_arrays) executable->constants.push_back(a.data());
  return executable;
}

const std::string& target_key() {
  // Never destroyed: functions may still be compiled while the program ends.
  static const auto& key = *new std::string(codegen::target_description({}));
  return key;
}

}  // namespace calque::runtime
