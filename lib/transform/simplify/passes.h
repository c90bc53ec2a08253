#pragma once
// The passes by name: for the command-line tool, for tests that hold for every pass, and for the verifier between them.
#include <span>
#include <string_view>

#include "calque/ir/graph.h"

namespace calque::transform {

/// A function from graph to graph that keeps every result to the bit.
struct Pass {
  std::string_view name;
  std::string_view doc;
  Graph (*run)(const Graph&);
};

/// All of them.
std::span<const Pass> passes();
/// The pass of that name. Throws CompileError that lists the names when there is none.
const Pass& find_pass(std::string_view name);
/// Runs a pass and, where verification is on, verifies what it returns; an error then names the pass.
Graph run_pass(const Pass& pass, const Graph& graph);

/// Whether graphs are verified after each pass: in debug builds, and when CALQUE_VERIFY=1.
bool verification_enabled();
/// The graph itself. Verifies it where verification is on.
Graph verified(std::string_view pass, Graph graph);

}  // namespace calque::transform
