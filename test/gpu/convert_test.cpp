// Conversions to 16-bit floats on the simulated GPU, near ties: bit-identical to the reference.
#include <gtest/gtest.h>

#include "primitives/list.h"
#include "reference/evaluate.h"
#include "support/native.h"
#include "support/near_ties.h"
#include "support/simulated.h"

namespace calque::test {
namespace {

template <class T>
void expect_reference(DType to) {
  Rng rng(11);
  const std::vector<T> x = near_ties<T>(rng);
  const std::vector<AnyArray> inputs{AnyArray::from(std::span<const T>(x), Shape{static_cast<int64_t>(x.size())})};
  Graph g;
  const Value in = g.add_input(inputs[0].type());
  g.set_outputs({g.append(primitives::get<primitives::Convert>(), {in}, {{"dtype", to}}).result()});
  const std::vector<AnyArray> got = run_simulated(g, inputs, tiny_limits());
  EXPECT_EQ(difference(got[0], reference::evaluate(g, inputs)[0]), "") << name(dtype_of<T>) << " to " << name(to);
}

TEST(SimulatedConvert, NumbersReachHalvesInOneRounding) {
  for (const DType to : {DType::f16, DType::bf16}) {
    const auto check = [&]<class... T>() { (expect_reference<T>(to), ...); };
    check.template operator()<int32_t, int64_t, uint32_t, uint64_t, float, double>();
  }
}

}  // namespace
}  // namespace calque::test
