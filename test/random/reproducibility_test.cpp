// Bits do not depend on the width of vectors.
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "support/cpu_levels.h"
#include "support/native.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using U32 = Array<uint32_t>;

template <class F>
void expect_equal_on_all_levels(const F& f) {
  const auto draw = jit([f](const auto& words) { return f(random::BasicKey<Tracer<uint32_t>>{words}); });
  const std::vector<AnyArray> key = {random::key(0x0123456789abcdef).data};
  const Graph graph = transform::simplify(draw.trace(U32{1, 2}));
  const std::vector<AnyArray> wanted = reference::evaluate(graph, key, {});
  for (const std::string& level : cpu_levels()) {
    codegen::CodegenOptions options;
    options.target.cpu = level;
    EXPECT_EQ(difference(run_native(graph, key, options)[0], wanted[0]), "") << level;
  }
}

TEST(Reproducibility, EveryWidthOfVectorsGivesTheSameBits) {
  const Counts odd = {37, 131}, one = {1};
  for (const Counts& shape : {odd, one}) {
    expect_equal_on_all_levels([&](auto k) { return random::bits<uint8_t>(k, shape); });
    expect_equal_on_all_levels([&](auto k) { return random::bits<uint16_t>(k, shape); });
    expect_equal_on_all_levels([&](auto k) { return random::bits<uint32_t>(k, shape); });
    expect_equal_on_all_levels([&](auto k) { return random::bits<uint64_t>(k, shape); });
    expect_equal_on_all_levels([&](auto k) { return random::uniform<float>(k, shape); });
    expect_equal_on_all_levels([&](auto k) { return random::uniform<double>(k, shape); });
    expect_equal_on_all_levels([&](auto k) { return random::uniform<float16>(k, shape); });
    expect_equal_on_all_levels([&](auto k) { return random::randint<int64_t>(k, shape, -5, 1'000'000'007); });
    expect_equal_on_all_levels([&](auto k) { return random::bernoulli(k, 0.3, shape); });
  }
}

}  // namespace
}  // namespace calque::test
