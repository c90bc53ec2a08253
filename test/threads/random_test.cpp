// Random numbers do not depend on the number of threads that draw them.
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "runtime/process/environment.h"

namespace calque {
namespace {

constexpr int64_t kLarge = 1'000'003;  // split over threads

template <class T>
void expect_same_numbers(Array<T> (*draw)(const random::Key&)) {
  const int saved = runtime::environment().num_threads;
  const random::Key key = random::key(7);
  std::vector<Array<T>> drawn;
  for (const int threads : {1, 2, 7}) {
    runtime::mutable_environment().num_threads = threads;
    drawn.push_back(draw(key));
  }
  runtime::mutable_environment().num_threads = saved;
  EXPECT_TRUE(array_equal(drawn[0], drawn[1]));
  EXPECT_TRUE(array_equal(drawn[0], drawn[2]));
}

TEST(RandomNumbers, AreTheSameForAnyNumberOfThreads) {
  expect_same_numbers<uint32_t>([](const random::Key& k) -> Array<uint32_t> { return random::bits(k, {kLarge}); });
  expect_same_numbers<double>(
      [](const random::Key& k) -> Array<double> { return random::uniform<double>(k, {kLarge}); });
  expect_same_numbers<float>([](const random::Key& k) -> Array<float> { return random::normal(k, {kLarge}); });
  expect_same_numbers<float>([](const random::Key& k) -> Array<float> { return random::gamma(k, 0.7f, {kLarge}); });
  // The sum of numbers that are not stored.
  expect_same_numbers<float>([](const random::Key& k) -> Array<float> {
    return jit([](const auto& key) { return sum(random::normal(key, {kLarge})); })(k);
  });
}

}  // namespace
}  // namespace calque
