// An axis that is sharded over processes: each gives its shards of the whole and gets its shards of the results.
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "collectives/thread_ranks.h"

namespace calque::test {
namespace {

using D = Array<double>;
using Group = std::shared_ptr<const ProcessGroup>;

/// f over the rows of x on one machine equals f over the shards of each rank, put together.
template <class F>
void expect_same(const F& f, const D& x) {
  const D whole = vmap(f, {.in_axes = {0, none}, .axis_name = "i"})(x, D(0.5));
  for (const int64_t ranks : {1, 2, 3, 6}) {
    const int64_t rows = x.shape()[0] / ranks;
    const auto parts = on_ranks(ranks, [&](const Group& group) {
      const D shard = x.at(range(group->rank() * rows, (group->rank() + 1) * rows));
      return vmap(f, {.in_axes = {0, none}, .axis_name = "i", .processes = group})(shard, D(0.5));
    });
    EXPECT_TRUE(allclose(concatenate(parts, 0), whole, 1e-14, 1e-14)) << ranks;
  }
}

D rows() { return sin(D::arange(12) * 1.3).reshape({6, 2}); }

TEST(ShardedAxes, CombinationsAndIndices) {
  expect_same([](auto x, auto c) { return x * c + psum(x, "i") + pmean(x, "i") + pmax(x, "i") - pmin(x, "i"); },
              rows());
  expect_same([](auto x, auto c) { return x * c + axis_index("i") * 1.0 + axis_size("i"); }, rows());
}

TEST(ShardedAxes, RowsAndPermutations) {
  expect_same([](auto x, auto c) { return c * matmul(all_gather(x, "i"), x); }, rows());
  expect_same([](auto x, auto c) { return psum_scatter(broadcast_to(x, {6, 2}) * c * (axis_index("i") + 1.0), "i"); },
              rows());
  std::vector<std::pair<int64_t, int64_t>> next, some{{5, 0}, {2, 3}};
  for (int64_t i = 0; i < 6; ++i) next.emplace_back(i, (i + 1) % 6);
  expect_same([&](auto x, auto c) { return c * ppermute(x, "i", next) + ppermute(x, "i", some); }, rows());
}

TEST(ShardedAxes, Gradients) {
  const auto f = [](auto x, auto c) { return sum(x * c) * psum(sum(square(x)), "i"); };
  expect_same(grad(f), rows());
}

TEST(ShardedAxes, AnyNameFindsAnAxisWithoutOne) {
  const auto sums = on_ranks(2, [&](const Group& group) {
    return vmap([](auto x) { return psum(x, "anything"); }, {.processes = group})(D{1, 2});
  });
  for (const D& s : sums) EXPECT_EQ(unlike(s, (D{6, 6})), "");
}

}  // namespace
}  // namespace calque::test
