#pragma once
// An operation outside of jit runs as a graph. Compiling it takes milliseconds, so the first runs of a graph of few
// elements are evaluated by the reference evaluator, and what is run again and again is compiled. Both give the same
// bits.
#include "compile/executable.h"

namespace calque::runtime {

/// The executable that runs the graph of an operation now: the compiled one, or one that evaluates. Throws
/// CompileError.
std::shared_ptr<const Executable> executable_of_operation(const Graph& graph, std::span<const Strides> strides,
                                                          const CompileOptions& options, CompileReport& report);

/// Estimated seconds of evaluating an equation with the reference evaluator.
double seconds_to_evaluate(const Graph& graph, const Equation& equation);

}  // namespace calque::runtime
