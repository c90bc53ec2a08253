#pragma once
// Random graphs as the runtime compiles and calls them, through its caches.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "calque/calque.h"

#include "compile/executable.h"
#include "runtime/call/dispatch.h"
#include "support/random/random_graph.h"

namespace calque::test {

/// A graph with arguments for it.
struct Example {
  Graph graph;
  std::vector<AnyArray> inputs;

  Example(Graph g, uint64_t seed) : graph(std::move(g)), inputs(random_inputs(graph, seed)) {}
  Example(uint64_t seed, const RandomGraphOptions& options)
      : graph(random_graph(seed, options)), inputs(random_inputs(graph, seed)) {}

  /// Row-major inputs.
  std::shared_ptr<const runtime::Executable> executable(const runtime::CompileOptions& options) const {
    std::vector<runtime::Strides> strides;
    for (const AnyArray& input : inputs) strides.push_back(row_major_strides(input.shape()));
    return runtime::find_executable(graph, strides, options);
  }
  std::vector<AnyArray> run(const runtime::Executable& executable, Device device = {}) const {
    std::vector<const AnyArray*> pointers;
    for (const AnyArray& input : inputs) pointers.push_back(&input);
    return runtime::execute(executable, pointers, device);
  }
};

/// The number that the program was given as its argument after `name`, or `otherwise`.
inline uint64_t number_after(const char* name, int argc, char** argv, uint64_t otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return std::strtoull(argv[i + 1], nullptr, 10);
  return otherwise;
}

}  // namespace calque::test
