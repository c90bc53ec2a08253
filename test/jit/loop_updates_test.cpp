// Loops that write elements of an array: in place, whatever the values read of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calque/calque.h"

namespace calque {
namespace {

using testing::HasSubstr;
using testing::Not;
using D = Array<double>;

template <class F>
std::string loop_of(const F& f, const D& a) {
  const std::string plan = f.lower(a).plan().str();
  const size_t begin = plan.find("repeat"), end = plan.find("kernel ", begin);
  return begin == std::string::npos ? "no loop" : plan.substr(begin, end - begin);
}

// A combining update reads the element that it adds to, and here its row before.
TEST(LoopUpdates, MayAddWhatTheyReadOfTheArray) {
  constexpr int64_t kRows = 12;
  const auto f = jit([](auto a) {
    return fori_loop(
        0, 50,
        [](auto k, auto m) {
          auto i = k % kRows, j = k * 7 % kRows;
          return m.add(i, j, -0.25 * sum(m[i]));
        },
        a);
  });
  const D a = reshape(D::arange(kRows * kRows), {kRows, kRows}) * 0.01;
  const std::string loop = loop_of(f, a);
  EXPECT_THAT(loop, Not(HasSubstr("copy")));
  EXPECT_THAT(loop, Not(HasSubstr("even")));
  std::vector<double> want(a.host().begin(), a.host().end());
  for (int64_t k = 0; k < 50; ++k) {
    double* const row = want.data() + k % kRows * kRows;
    row[k * 7 % kRows] -= 0.25 * std::accumulate(row, row + kRows, 0.0);
  }
  EXPECT_TRUE(allclose(f(a), D::from(std::span<const double>(want), {kRows, kRows}), 1e-12, 1e-12));
}

// What is added to other elements must not be what earlier iterations of the update have changed.
TEST(LoopUpdates, OfSeveralElementsReadTheArrayBefore) {
  const auto f = jit([](auto a) {
    return fori_loop(0, 5, [](auto, auto m) { return m.add(Array<int>{0, 1, 2}, m.at(Array<int>{1, 2, 0})); }, a);
  });
  std::vector<double> want{1, 2, 3, 4};
  for (int k = 0; k < 5; ++k) want = {want[0] + want[1], want[1] + want[2], want[2] + want[0], want[3]};
  EXPECT_TRUE(array_equal(f(D{1, 2, 3, 4}), D::from(std::span<const double>(want), {4})));
}

/// n numbers that end where no memory is mapped.
class AtAGap {
 public:
  explicit AtAGap(int64_t n) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE)), bytes = static_cast<size_t>(n) * sizeof(double);
    size_ = (bytes + page - 1) / page * page;
    memory_ =
        static_cast<char*>(::mmap(nullptr, size_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(memory_ + size_, page, PROT_NONE);
    size_ += page;
    numbers_ = reinterpret_cast<double*>(memory_ + size_ - page - bytes);
  }
  AtAGap(const AtAGap&) = delete;
  AtAGap& operator=(const AtAGap&) = delete;
  ~AtAGap() { ::munmap(memory_, size_); }
  double* numbers() const { return numbers_; }

 private:
  size_t size_;
  char* memory_;
  double* numbers_;
};

// Lanes beyond an operand of a fused concatenation access nothing.
TEST(LoopUpdates, FusedConcatenationsEndAtInaccessibleMemory) {
  for (const int64_t n : {1, 7, 8, 63, 64, 1000}) {
    const AtAGap memory(n);
    for (int64_t i = 0; i < n; ++i) memory.numbers()[i] = static_cast<double>(i + 1);
    const D x = D::wrap(memory.numbers(), {n}, [](double*) {});
    const auto f = jit([n](auto v) {
      auto longer = concatenate({v, zeros<double>({3 * n})}, 0);
      return std::tuple{sum(longer * arange<double>(0, 4 * n)),
                        dynamic_slice(longer, {Tracer<int>(static_cast<int>(n) / 2)}, {2 * n}),
                        zeros<double>({2 * n}).set(range(n / 2, n / 2 + n), v)};
    });
    const auto [total, window, inside] = f(x);
    double want = 0;
    for (int64_t i = 0; i < n; ++i) want += static_cast<double>(i * (i + 1));
    EXPECT_DOUBLE_EQ(total.item(), want);
    for (int64_t i = 0; i < 2 * n; ++i) {
      EXPECT_EQ(window(i), i + n / 2 < n ? static_cast<double>(i + n / 2 + 1) : 0);
      EXPECT_EQ(inside(i), i >= n / 2 && i < n / 2 + n ? static_cast<double>(i - n / 2 + 1) : 0);
    }
  }
}

}  // namespace
}  // namespace calque
