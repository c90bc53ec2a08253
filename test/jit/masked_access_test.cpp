// Lanes beyond an operand of a fused concatenation, padding or window access nothing, and take no time: with memory
// that is directly before, or after, an inaccessible page.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calque/calque.h"

#include "support/sanitizers.h"

namespace calque {
namespace {

enum class Gap : uint8_t { before, after };

/// n numbers beside a page that cannot be accessed.
template <class T>
class Guarded {
 public:
  Guarded(int64_t n, Gap gap) : n_(n), page_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))) {
    const size_t bytes = static_cast<size_t>(n) * sizeof(T), size = (bytes + page_ - 1) / page_ * page_;
    bytes_ = size + 2 * page_;
    memory_ = static_cast<char*>(::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(memory_ + page_, size, PROT_READ | PROT_WRITE);
    numbers_ = reinterpret_cast<T*>(memory_ + page_ + (gap == Gap::after ? size - bytes : 0));
    for (int64_t i = 0; i < n; ++i) numbers_[i] = static_cast<T>(i % 50 + 1);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { ::munmap(memory_, bytes_); }
  Array<T> array() const {
    return Array<T>::wrap(numbers_, {n_}, [](T*) {});
  }

 private:
  int64_t n_;
  size_t page_, bytes_;
  char* memory_;
  T* numbers_;
};

template <class T>
std::vector<T> values(const Array<T>& a) {
  const auto all = a.host();
  return {all.begin(), all.end()};
}

/// Each is computed in one loop over more elements than the operand has.
template <class T>
auto programs(int64_t n) {
  return [n](auto x, auto start) {
    const auto longer = concatenate({zeros<T>({n}), x, zeros<T>({2 * n})}, 0);
    const auto shifted = dynamic_slice(longer, {start}, {2 * n});
    const auto padded = pad(x, T{0}, {3}, {5});
    const auto inside = zeros<T>({2 * n + 1}).set(range(n / 2, n / 2 + n), x);
    const auto written = ones<T>({2 * n}).set(range(1, n + 1), x + T{1});
    return std::tuple{longer * T{2}, flip(longer, 0) + T{1}, shifted + T{1}, padded * T{2}, inside + T{1}, written};
  };
}

template <class T>
void compare(int64_t n, Gap gap) {
  const Guarded<T> memory(n, gap);
  const auto f = jit(programs<T>(n));
  const auto in_loop = jit([n](auto x, auto last) {
    return fori_loop(
        0, last,
        [=](auto k, auto y) {
          return y + dynamic_slice(concatenate({x, zeros<T>({n})}, 0), {static_cast<int32_t>(n) - k}, {n});
        },
        zeros<T>({n}));
  });
  const std::vector<T> x = values(memory.array());
  const auto at = [&](int64_t i) { return i < 0 || i >= n ? T{0} : x[static_cast<size_t>(i)]; };
  for (const int64_t start : {int64_t{0}, n / 3, n - 1, n, n + 1, 2 * n}) {
    const auto [twice, backwards, shifted, padded, inside, written] = f(memory.array(), static_cast<int32_t>(start));
    for (int64_t i = 0; i < 4 * n; ++i) {
      ASSERT_EQ(twice(i), static_cast<T>(2 * at(i - n))) << i;
      ASSERT_EQ(backwards(4 * n - 1 - i), static_cast<T>(at(i - n) + 1)) << i;
    }
    for (int64_t i = 0; i < 2 * n; ++i) {
      ASSERT_EQ(shifted(i), static_cast<T>(at(start + i - n) + 1)) << start << ' ' << i;
      ASSERT_EQ(inside(i), static_cast<T>(at(i - n / 2) + 1)) << i;
      ASSERT_EQ(written(i), static_cast<T>(i > 0 && i <= n ? at(i - 1) + 1 : 1)) << i;
    }
    for (int64_t i = 0; i < n + 8; ++i) ASSERT_EQ(padded(i), static_cast<T>(2 * at(i - 3))) << i;
  }
  const int64_t steps = std::min<int64_t>(n, 9);
  const Array<T> sums = in_loop(memory.array(), static_cast<int32_t>(steps));
  for (int64_t i = 0; i < n; ++i) {
    T want{0};
    for (int64_t k = 0; k < steps; ++k) want = static_cast<T>(want + at(n - k + i));
    ASSERT_EQ(sums(i), want) << i;
  }
}

template <class T>
void compare_all() {
  for (const int64_t n : {1, 2, 7, 8, 15, 17, 31, 63, 64, 65, 200})
    for (const Gap gap : {Gap::before, Gap::after}) compare<T>(n, gap);
}
TEST(MaskedAccess, StaysInsideBuffersOfDoubles) { compare_all<double>(); }
TEST(MaskedAccess, StaysInsideBuffersOfFloats) { compare_all<float>(); }
TEST(MaskedAccess, StaysInsideBuffersOfBytes) { compare_all<int8_t>(); }

// On some CPUs a masked access of a page that is not mapped takes 600 ns, although no lane is active.
TEST(MaskedAccess, TakesNoMoreTimeBesideAGap) {
  if (test::kAddressSanitizer || test::kThreadSanitizer) GTEST_SKIP() << "measures time";
  constexpr int64_t kElements = 8192, kSteps = 50;
  const auto f = jit([=](auto x) {
    return fori_loop(
        1, kSteps,
        [=](auto k, auto y) {
          const auto longer = concatenate({x, zeros<double>({kElements})}, 0);
          return y + 1e-3 * dynamic_slice(longer, {kElements - 16 * k}, {kElements});
        },
        zeros<double>({kElements}));
  });
  const Guarded<double> memory(kElements, Gap::after);
  const Array<double> beside = memory.array(), elsewhere = Array<double>::full({kElements}, 1.0);
  f(beside);
  wait_for_compilation();
  const auto seconds = [&](const Array<double>& x) {
    const auto begin = std::chrono::steady_clock::now();
    f(x);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double least = 1e9, least_beside = 1e9;
  for (int k = 0; k < 20; ++k) {
    least = std::min(least, seconds(elsewhere));
    least_beside = std::min(least_beside, seconds(beside));
  }
  EXPECT_LT(least_beside, 5 * least);  // accesses beyond the operand took twenty times as long
}

}  // namespace
}  // namespace calque
