// Loops that write elements of an array: in place, whatever the values read of it.
#include <numeric>
#include <vector>

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
  const size_t begin = plan.find("repeat"), end = plan.find("\n}\n", begin);
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

// The carry is handed from loop to loop.
TEST(LoopUpdates, OfLoopsInLoopsPassTheArrayOn) {
  const auto inner = [](auto from, auto a, double by) {
    return fori_loop(from, from + 2, [by](auto j, auto m) { return m.set(j, j, m.at(j, j) * 2.0 + by); }, a);
  };
  const auto f = jit([inner](auto a) {
    return fori_loop(
        0, 30,
        [inner](auto k, auto m) {
          auto r = k % 10;
          return inner(r, inner(r, inner(r, m, 1.0), 2.0), 3.0);
        },
        a);
  });
  const D a = reshape(D::arange(144), {12, 12}) * 0.125;
  EXPECT_THAT(loop_of(f, a), Not(testing::ContainsRegex("copy[^;]*m[0-9]+, m[0-9]+, m[0-9]+, m[0-9]+")));
  std::vector<double> want(a.host().begin(), a.host().end());
  for (int64_t k = 0; k < 30; ++k)
    for (const double by : {1.0, 2.0, 3.0})
      for (int64_t j = k % 10; j < k % 10 + 2; ++j) want[j * 13] = want[j * 13] * 2.0 + by;
  EXPECT_TRUE(allclose(f(a), D::from(std::span<const double>(want), {12, 12}), 1e-12, 1e-12));
  // One that is read again is not.
  const auto g = jit([inner](auto x) {
    return fori_loop(
        0, 5,
        [inner](auto k, auto m) {
          auto changed = inner(k, m, 1.0);
          return inner(k, changed, 2.0) + 0.5 * m;
        },
        x);
  });
  std::vector<double> again(a.host().begin(), a.host().end());
  for (int64_t k = 0; k < 5; ++k) {
    const std::vector<double> before = again;
    for (const double by : {1.0, 2.0})
      for (int64_t j = k; j < k + 2; ++j) again[j * 13] = again[j * 13] * 2.0 + by;
    for (size_t i = 0; i < again.size(); ++i) again[i] += 0.5 * before[i];
  }
  EXPECT_TRUE(allclose(g(a), D::from(std::span<const double>(again), {12, 12}), 1e-12, 1e-12));
}

/// Runs `update` with traced indices i and j in a loop, whose plan must write the elements of x in place, and nothing
/// else.
template <class F>
void expect_written_alone(const std::string& what, const F& update) {
  const auto f = jit([update](auto a) {
    return fori_loop(0, 7, [update](auto k, auto x) { return update(x, k % 5, k * 3 % 6); }, a);
  });
  const D a = reshape(D::arange(5 * 6 * 4), {5, 6, 4});
  const std::string loop = loop_of(f, a);
  for (const char* pass : {"copy", "even", "slice", "pad"}) EXPECT_THAT(loop, Not(HasSubstr(pass))) << what;
  D want = a;
  for (int k = 0; k < 7; ++k) {
    const Array<int> at = Array<int>(k);
    want = update(want, at % 5, at * 3 % 6);
  }
  EXPECT_TRUE(array_equal(f(a), want)) << what;
}

TEST(LoopUpdates, OfPartsWriteTheirElementsAlone) {
  expect_written_alone("part of a row", [](auto x, auto i, auto) { return x.set(i, range(1, -1), 1.5); });
  expect_written_alone("sums", [](auto x, auto i, auto) { return x.add(i, range(1, -1), range(0, 2), 2.0); });
  expect_written_alone("part of a column", [](auto x, auto, auto j) { return x.add(range(1, -1), j, 3.0); });
  expect_written_alone("a number", [](auto x, auto i, auto) { return x.set(i, 0, -1.0); });
  expect_written_alone("numbers", [](auto x, auto i, auto j) { return x.add(i, j, -1, -2.0); });
  expect_written_alone("backwards", [](auto x, auto i, auto) { return x.set(i, range(4, 1, -1), 3, D{1, 2, 3}); });
  expect_written_alone("newaxis", [](auto x, auto i, auto) { return x.set(i, newaxis, range(2, 4), D{1, 2, 3, 4}); });
  expect_written_alone("a block", [](auto x, auto i, auto j) { return x.set(i, j, range(1, 3), D{8, 9}); });
  expect_written_alone("every second", [](auto x, auto i, auto) { return x.set(i, range(1, 6, 2), 1.5); });
  expect_written_alone("strided sums", [](auto x, auto, auto j) { return x.add(range(0, 5, 2), j, 2.5); });
  expect_written_alone("strided backwards", [](auto x, auto i, auto) {
    return x.set(i, range(none, none, -2), range(0, 4, 3), reshape(D::arange(6), {3, 2}));
  });
  expect_written_alone("two strides", [](auto x, auto i, auto) {
    return x.add(range(0, none, 3), range(none, none, -3), i % 4, reshape(D::arange(4), {2, 2}));
  });
  expect_written_alone("strides and newaxis", [](auto x, auto, auto j) {
    return x.set(range(1, none, 3), newaxis, j, range(-1, 0, -2), reshape(D::arange(4), {2, 1, 2}));
  });
  expect_written_alone("strides and numbers", [](auto x, auto, auto) { return x.add(-2, range(0, none, 2), 1, 0.5); });
  expect_written_alone("strides alone", [](auto x, auto, auto) { return x.set(range(0, 4, 3), range(5, 0, -4), 4.5); });
  expect_written_alone("a reversed whole",
                       [](auto x, auto i, auto) { return x.set(i, all, range(none, none, -1), D{1, 2, 3, 4}); });
  expect_written_alone("nothing", [](auto x, auto i, auto) { return x.set(i, range(2, 2), 5.0); });
}

// A window that begins beyond the array is moved inside, also where the number exceeds int64_t.
TEST(LoopUpdates, OfWindowsBeyondTheArray) {
  const auto f = jit(
      [](auto x, auto i, auto v) {
        return fori_loop(0, 2, [=](auto, auto y) { return dynamic_update_slice(y, v, {i, i}).add(0, 0, 1.0); }, x);
      },
      {.donate = {0}});
  const auto g = jit([](auto x, auto i, auto v) { return dynamic_update_slice(x, v, {i, i}); }, {.donate = {0}});
  const D v = D::full({2, 3}, 9.0);
  for (const uint64_t start : {uint64_t{1}, uint64_t{5}, UINT64_MAX, UINT64_MAX - 2, uint64_t{1} << 63}) {
    D want = reshape(D::arange(80), {8, 10});
    const auto row = static_cast<int64_t>(std::min<uint64_t>(start, 6)),
               column = static_cast<int64_t>(std::min<uint64_t>(start, 7));
    want = want.set(range(row, row + 2), range(column, column + 3), v);
    EXPECT_TRUE(array_equal(g(reshape(D::arange(80), {8, 10}), start, v), want)) << start;
    EXPECT_TRUE(array_equal(f(reshape(D::arange(80), {8, 10}), start, v), want.add(0, 0, 2.0))) << start;
  }
}

// Values against the elements one by one: numbers, ranges and index arrays in any order.
TEST(LoopUpdates, OfPartsByIndexArrays) {
  const D a = reshape(D::arange(5 * 6 * 4), {5, 6, 4});
  const Array<int> rows = {3, 0, 3}, columns = {1, -1, 9};  // -1 is the last, 9 is outside
  const auto f = jit([](auto x, auto r, auto c) {
    return std::tuple{x.set(r, range(1, 5), c, 7.0), x.add(range(1, 4), r, 2, 1.0), x.set(2, r, range(3, 0, -1), 5.0)};
  });
  const auto [set, add, back] = f(a, rows, columns);
  D want_set = a, want_add = a, want_back = a;
  for (int k = 0; k < 3; ++k) {
    const int64_t r = rows(k), c = columns(k) < 0 ? columns(k) + 4 : columns(k);
    for (int64_t m = 1; m < 5; ++m)
      if (c < 4) want_set = want_set.set(r, m, c, 7.0);
    for (int64_t m = 1; m < 4; ++m) want_add = want_add.add(m, r, 2, 1.0);
    for (int64_t m = 1; m < 4; ++m) want_back = want_back.set(2, r, m, 5.0);
  }
  EXPECT_TRUE(array_equal(set, want_set));
  EXPECT_TRUE(array_equal(add, want_add));
  EXPECT_TRUE(array_equal(back, want_back));
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
