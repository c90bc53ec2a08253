// Random graphs, with control flow, executed as calls on the simulator against the reference: strict mode,
// bit-identical.
#include <gtest/gtest.h>

#include "calque/device.h"

#include "compile/executable.h"
#include "reference/evaluate.h"
#include "runtime/call/device_dispatch.h"
#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"

namespace calque::test {
namespace {

RandomGraphOptions strict_options() {
  RandomGraphOptions o;
  o.reassociated = false;
  // The sign of a NaN is unspecified; these two would expose it.
  o.exclude = {"bitcast", "copysign", "signbit"};
  return o;
}

std::vector<AnyArray> run_on(Device device, const Graph& graph, const std::vector<AnyArray>& inputs,
                             const runtime::CompileOptions& options) {
  std::vector<const AnyArray*> pointers;
  for (const AnyArray& input : inputs) pointers.push_back(&input);
  const auto executable = runtime::find_executable(graph, {}, options);
  std::vector<AnyArray> outputs = runtime::execute_on_device(*executable, pointers, device);
  runtime::forget_executables({executable.get()});
  return outputs;
}

std::string compare(const Graph& graph, const std::vector<AnyArray>& inputs) try {
  runtime::CompileOptions options;
  options.strict = true;
  options.device = gpu_sim();
  const std::vector<AnyArray> got = run_on(options.device, graph, inputs, options);
  const std::vector<AnyArray> want = reference::evaluate(graph, inputs, runtime::reference_options(options));
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string d = difference(got[i], want[i]);
    if (!d.empty()) return "output " + std::to_string(i) + ": " + d + "\n" + print(graph);
  }
  return {};
} catch (const Error& e) {
  return std::string("threw ") + e.what() + "\n" + print(graph);
}

void compare_seeds(uint64_t first, uint64_t count, const RandomGraphOptions& options) {
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Graph g = random_graph(seed, options);
    ASSERT_EQ(compare(g, random_inputs(g, seed)), "") << "seed " << seed;
  }
}

class DeviceGraphs : public testing::TestWithParam<int> {};

TEST_P(DeviceGraphs, EqualTheReferenceInStrictMode) {
  constexpr uint64_t kBlock = 100;
  compare_seeds(static_cast<uint64_t>(GetParam()) * kBlock, kBlock, strict_options());
}

TEST(DeviceLargeGraphs, EqualTheReferenceInStrictMode) {
  RandomGraphOptions options = strict_options();
  options.max_equations = 12;
  options.max_elements = 20000;
  options.max_depth = 1;
  compare_seeds(700000, kAddressSanitizer ? 3 : 20, options);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
INSTANTIATE_TEST_SUITE_P(Seeds, DeviceGraphs, testing::Range(0, 1));
#else
INSTANTIATE_TEST_SUITE_P(Seeds, DeviceGraphs, testing::Range(0, 2));
#endif

}  // namespace
}  // namespace calque::test
