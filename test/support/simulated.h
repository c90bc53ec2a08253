#pragma once
// Runs graphs directly on the simulated GPU, with limits chosen by a test.
#include <vector>

#include "calque/ir/graph.h"

#include "codegen/gpu/device_code.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "runtime/device/device_api.h"

namespace calque::test {

/// Limits far below those of a real device, so that small graphs cover every schedule.
inline kernel::GpuLimits tiny_limits() {
  kernel::GpuLimits limits;
  limits.small_work = 0;
  limits.long_loop = 12;
  limits.least_chunk = 5;
  limits.least_rows = 2;
  return limits;
}

/// The scheduled program of a graph.
kernel::Program program_for_gpu(const Graph& graph, const kernel::GpuLimits& limits);

/// Outputs of the graph. Throws DeviceError for errors detected by the simulator.
std::vector<AnyArray> run_simulated(const Graph& graph, const std::vector<AnyArray>& inputs,
                                    const kernel::GpuLimits& limits, const codegen::DeviceOptions& options = {});
/// Runs a program of i32 buffers that is scheduled for a GPU.
std::vector<std::vector<int32_t>> run_on_simulator(const kernel::Program& program,
                                                   const std::vector<std::vector<int32_t>>& inputs);
/// The same on any device.
std::vector<AnyArray> run_on(runtime::KernelDevice& api, const Graph& graph, const std::vector<AnyArray>& inputs,
                             const kernel::GpuLimits& limits, const codegen::DeviceOptions& options = {});

}  // namespace calque::test
