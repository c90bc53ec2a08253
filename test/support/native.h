#pragma once
// Runs graphs directly on the CPU back end, and compares the results with those of the reference evaluator.
#include <memory>
#include <string>
#include <vector>

#include "calque/ir/graph.h"

#include "codegen/codegen.h"
#include "kernel/lower/build.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "reference/evaluate.h"

namespace calque::test {

/// A graph compiled with these options, which can run any number of times.
class NativeGraph {
 public:
  NativeGraph(const Graph& graph, const kernel::BuildOptions& build, const codegen::CodegenOptions& options = {},
              const kernel::GpuLimits* limits = nullptr);

  std::vector<AnyArray> operator()(const std::vector<AnyArray>& inputs) const;

  /// How many outputs are computed in the memory of donated inputs.
  size_t reused_inputs() const;

 private:
  std::vector<Type> outputs_;
  kernel::Program program_;
  std::shared_ptr<const codegen::CompiledProgram> code_;
};

/// Outputs of the graph compiled with these options.
std::vector<AnyArray> run_native(const Graph& graph, const std::vector<AnyArray>& inputs,
                                 const codegen::CodegenOptions& options = {});
std::vector<AnyArray> run_native(const Graph& graph, const std::vector<AnyArray>& inputs,
                                 const codegen::CodegenOptions& options, const kernel::BuildOptions& build);

/// The same with every input donated (the caller's arrays are not modified). Counts the reused inputs in `taken`.
std::vector<AnyArray> run_donating(const Graph& graph, const std::vector<AnyArray>& inputs, size_t& taken,
                                   const codegen::CodegenOptions& options = {});

/// The same program scheduled for a GPU, but run on the CPU, which ignores the annotations of the schedule.
std::vector<AnyArray> run_scheduled(const Graph& graph, const std::vector<AnyArray>& inputs,
                                    const kernel::GpuLimits& limits, const codegen::CodegenOptions& options = {});

/// The reference with the function implementations of generated code in strict mode.
inline const reference::Options kStrictReference{.forms = math::MathForms{}};

/// Compares bit for bit, any NaN being equal to any NaN. Returns a description of the first difference, or "".
std::string difference(const AnyArray& got, const AnyArray& want);
/// Floats within `rtol` relative and `atol` absolute, or both the same infinity or NaN; everything else equal.
std::string difference(const AnyArray& got, const AnyArray& want, double rtol, double atol);

/// Both results of a graph, by the strict reference and natively in strict mode: "" when they have the
/// same bits, otherwise the difference and the graph's text.
std::string compare_strictly(const Graph& graph, const std::vector<AnyArray>& inputs, const std::string& cpu = {});

/// Default options whose compilations are recorded in `log`.
inline codegen::CodegenOptions logged_to(PassLog& log) {
  codegen::CodegenOptions options;
  options.log = &log;
  return options;
}

}  // namespace calque::test
