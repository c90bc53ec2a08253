#pragma once
// Runs graphs on the simulated GPU directly, under limits of one's own.
#include <vector>

#include "calque/ir/graph.h"

#include "codegen/gpu/device_code.h"
#include "kernel/gpu/schedule.h"

namespace calque::test {

/// The graph's program, scheduled (mathematics is expanded first).
kernel::Program scheduled_program(const Graph& graph, const kernel::GpuLimits& limits);

/// Outputs of the graph, by the simulator.
std::vector<AnyArray> run_simulated(const Graph& graph, const std::vector<AnyArray>& inputs,
                                    const kernel::GpuLimits& limits = {}, const codegen::DeviceOptions& options = {});

/// Limits far below a device's: small graphs take every way.
kernel::GpuLimits tiny_limits();

}  // namespace calque::test
