#include "support/simulated.h"

#include "calque/device.h"

#include "kernel/build.h"
#include "math/expand.h"
#include "runtime/gpu/device_api.h"
#include "runtime/gpu/step_runner.h"
#include "transform/simplify.h"

namespace calque::test {

kernel::GpuLimits tiny_limits() {
  kernel::GpuLimits limits;
  limits.small_work = 0;
  limits.long_loop = 12;
  limits.least_piece = 5;
  limits.least_rows = 2;
  return limits;
}

kernel::Program scheduled_program(const Graph& graph, const kernel::GpuLimits& limits) {
  const Graph g = transform::simplify(math::expand(transform::simplify(graph)));
  kernel::BuildOptions build;
  build.alignment = 64;
  return kernel::schedule_for_gpu(kernel::build_program(g, build), limits);
}

std::vector<AnyArray> run_simulated(const Graph& graph, const std::vector<AnyArray>& inputs,
                                    const kernel::GpuLimits& limits, const codegen::DeviceOptions& options) {
  const kernel::Program program = scheduled_program(graph, limits);
  runtime::DeviceApi& api = runtime::device_api(gpu_sim());
  const auto code = api.load(program, options, "");
  std::vector<std::pair<void*, size_t>> taken;
  const auto allocate = [&](size_t bytes) {
    taken.emplace_back(api.allocate(bytes), bytes);
    return taken.back().first;
  };
  const auto put = [&](const AnyArray& a) {
    void* const at = allocate(a.bytes());
    if (a.bytes() != 0) api.upload(at, a.data(), a.bytes());
    return at;
  };
  std::vector<void*> in, out, constants;
  for (const AnyArray& a : inputs) in.push_back(put(a));
  for (const AnyArray& a : program.constants) constants.push_back(put(a));
  std::vector<AnyArray> results;
  for (const Type& t : graph.output_types()) {
    results.push_back(AnyArray::uninitialized(t));
    out.push_back(allocate(results.back().bytes()));
  }
  auto* const workspace = static_cast<std::byte*>(allocate(static_cast<size_t>(program.workspace_bytes)));
  std::vector<void*> buffers;
  for (const kernel::ProgramBuffer& b : program.buffers) {
    const auto i = static_cast<size_t>(b.index);
    buffers.push_back(b.kind == kernel::BufferKind::input      ? in[i]
                      : b.kind == kernel::BufferKind::output   ? out[i]
                      : b.kind == kernel::BufferKind::constant ? constants[i]
                                                               : static_cast<void*>(workspace + b.offset));
  }
  runtime::StepRunner(api, program, *code, buffers).run();
  for (size_t o = 0; o < results.size(); ++o)
    if (results[o].bytes() != 0) api.download(results[o].mutable_data(), out[o], results[o].bytes());
  for (const auto& [at, bytes] : taken) api.release(at, bytes);
  return results;
}

}  // namespace calque::test
