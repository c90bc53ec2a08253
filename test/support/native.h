#pragma once
// Runs graphs on the CPU back end directly, and compares the results with the reference evaluator's.
#include <string>
#include <vector>

#include "calque/ir/graph.h"

#include "codegen/codegen.h"
#include "kernel/lower/build.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "reference/evaluate.h"

namespace calque::test {

/// Outputs of the graph compiled with these options.
std::vector<AnyArray> run_native(const Graph& graph, const std::vector<AnyArray>& inputs,
                                 const codegen::CodegenOptions& options = {});
std::vector<AnyArray> run_native(const Graph& graph, const std::vector<AnyArray>& inputs,
                                 const codegen::CodegenOptions& options, const kernel::BuildOptions& build);

/// The same with every input donated (the caller's stay as they are). Counts in `taken` the inputs whose memory was.
std::vector<AnyArray> run_donating(const Graph& graph, const std::vector<AnyArray>& inputs, size_t& taken,
                                   const codegen::CodegenOptions& options = {});

/// The same program scheduled for a GPU, but run on the CPU, for which the marks of the schedule mean nothing.
std::vector<AnyArray> run_scheduled(const Graph& graph, const std::vector<AnyArray>& inputs,
                                    const kernel::GpuLimits& limits, const codegen::CodegenOptions& options = {});

/// The reference with functions as generated code of strict mode computes them.
inline const reference::Options kStrictReference{.forms = math::MathForms{}};

/// Bit for bit, any NaN being equal to any NaN. Otherwise the first difference in words.
std::string difference(const AnyArray& got, const AnyArray& want);
/// Floats within `rtol` relative and `atol` absolute, or both the same infinity or NaN; everything else equal.
std::string difference(const AnyArray& got, const AnyArray& want, double rtol, double atol);

/// Both results of a graph, by the strict reference and natively in strict mode: "" when they have the
/// same bits, else what differs and the graph's text.
std::string compare_strictly(const Graph& graph, const std::vector<AnyArray>& inputs, const std::string& cpu = {});

}  // namespace calque::test
