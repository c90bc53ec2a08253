#pragma once
// The passes by name: for the command-line tool, for tests that run every pass, and for the verifier between passes.
#include <span>
#include <string_view>

#include "calque/ir/graph.h"

#include "ir/pass_log.h"

namespace calque::transform {

/// A function from graph to graph that preserves every result bit for bit.
struct Pass {
  PassInfo info;
  Graph (*run)(const Graph&);
};

/// All of them.
std::span<const Pass> passes();
/// The pass of that name. Throws a CompileError that lists the names if there is none.
const Pass& find_pass(std::string_view name);
/// Runs a pass and, if verification is enabled, verifies its result; an error names the pass.
Graph run_pass(const Pass& pass, const Graph& graph);

/// Whether graphs are verified after each pass: in debug builds, and when CALQUE_VERIFY=1.
bool verification_enabled();
/// Returns the graph, verified if verification is enabled.
Graph verified(std::string_view pass, Graph graph);

}  // namespace calque::transform
