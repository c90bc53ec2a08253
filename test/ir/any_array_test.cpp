#include "calque/ir/any_array.h"

#include <cstring>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>

#include "calque/ir/errors.h"

#include "support/guarded.h"
#include "support/sanitizers.h"

namespace calque {
namespace {

using test::guarded;

std::string printed(const AnyArray& array) {
  std::ostringstream out;
  out << array;
  return out.str();
}

template <class T>
AnyArray array_of(std::vector<T> elements, const Shape& shape) {
  return AnyArray::from<T>(std::span<const T>(elements), shape);
}

TEST(AnyArrayPrint, LooksLikeNumPy) {
  EXPECT_EQ(printed(array_of<float>({1, 2.5f, -3}, {3})), "[ 1.   2.5 -3. ]");
  EXPECT_EQ(printed(array_of<int32_t>({1, 20, -3, 4}, {2, 2})), "[[ 1 20]\n [-3  4]]");
  EXPECT_EQ(printed(AnyArray::full<double>({}, 0.1)), "0.1");
  EXPECT_EQ(printed(AnyArray::full<bool>({2}, true)), "[ True  True]");
  EXPECT_EQ(printed(AnyArray::full<float>({0, 3}, 1)), "[]");
  EXPECT_EQ(printed(array_of<int64_t>({1, 2, 3, 4}, {2, 1, 2})), "[[[1 2]]\n\n [[3 4]]]");
  EXPECT_EQ(printed(array_of<std::complex<float>>({{1, -2}, {0.5f, 3}}, {2})), "[1. -2.j 0.5+3.j]");
  EXPECT_EQ(printed(AnyArray()), "<empty>");
}

TEST(AnyArrayPrint, ShowsSpecialValues) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(printed(array_of<double>({inf, -inf, std::nan(""), -0.0}, {4})), "[ inf -inf  nan  -0.]");
  EXPECT_EQ(printed(array_of<float>({1e20f, 1e-20f}, {2})), "[1.e+20 1.e-20]");
  EXPECT_EQ(printed(array_of<float16>({float16(0.1f)}, {1})), "[0.1]");
}

TEST(AnyArrayPrint, ScalarsAndWideRangesFollowNumPy) {
  EXPECT_EQ(printed(AnyArray::full<float>({}, 1)), "1.0");
  EXPECT_EQ(printed(array_of<double>({1e20, 1.25e-20}, {2})), "[1.00e+20 1.25e-20]");
  EXPECT_EQ(printed(array_of<double>({0.001, 5}, {2})), "[1.e-03 5.e+00]");
  EXPECT_EQ(printed(array_of<double>({5, 5e200}, {2})), "[5.e+000 5.e+200]");
  EXPECT_EQ(printed(array_of<double>({-1.25e-100, 3}, {2})), "[-1.25e-100  3.00e+000]");
  EXPECT_EQ(printed(array_of<double>({1.0 / 3, 100}, {2})), "[  0.33333333 100.        ]");
  EXPECT_EQ(printed(array_of<float>({0.1f, 1.0f / 3}, {2})), "[0.1        0.33333334]");
}

TEST(AnyArrayPrint, WrapsLongRows) {
  EXPECT_EQ(printed(AnyArray::full<int64_t>({2, 20}, 10000)),
            "[[10000 10000 10000 10000 10000 10000 10000 10000 10000 10000 10000 10000\n"
            "  10000 10000 10000 10000 10000 10000 10000 10000]\n"
            " [10000 10000 10000 10000 10000 10000 10000 10000 10000 10000 10000 10000\n"
            "  10000 10000 10000 10000 10000 10000 10000 10000]]");
}

TEST(AnyArrayPrint, SummarisesWhatIsLong) {
  std::vector<int32_t> elements(2000);
  std::iota(elements.begin(), elements.end(), 0);
  EXPECT_EQ(printed(array_of(elements, {2000})), "[   0    1    2 ... 1997 1998 1999]");
  const std::string table = printed(array_of(elements, {40, 50}));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 6);
  EXPECT_NE(table.find("\n ...\n"), std::string::npos);
}

TEST(AnyArray, IdenticalComparesBits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(identical(AnyArray::full<float>({2}, nan), AnyArray::full<float>({2}, nan)));
  EXPECT_FALSE(identical(AnyArray::full<float>({2}, 0.0f), AnyArray::full<float>({2}, -0.0f)));
  EXPECT_FALSE(identical(AnyArray::full<float>({2}, 0.0f), AnyArray::full<float>({1, 2}, 0.0f)));
  EXPECT_FALSE(identical(AnyArray::full<float>({2}, 0.0f), AnyArray::full<int32_t>({2}, 0)));
  EXPECT_TRUE(identical(AnyArray(), AnyArray()));
}

TEST(AnyArray, AbsentBytesCompareByTheirHash) {
  const AnyArray a = AnyArray::full<float>({100}, 1.5f);
  const AnyArray b(a.type(), detail::Storage::absent(a.bytes(), a.storage().content_hash(a.bytes())));
  const AnyArray c(a.type(), detail::Storage::absent(a.bytes(), ContentHash{1, 2}));
  EXPECT_FALSE(b.has_data());
  EXPECT_FALSE(b.empty());
  EXPECT_THROW(b.data(), Error);
  EXPECT_TRUE(identical(a, b));
  EXPECT_FALSE(identical(a, c));
}

TEST(Storage, CountsReferences) {
  detail::Storage a = detail::Storage::allocate(100);
  EXPECT_TRUE(a.unique());
  EXPECT_EQ(a.bytes(), 100u);
  {
    const detail::Storage b = a;
    EXPECT_FALSE(a.unique());
    EXPECT_EQ(a, b);
  }
  EXPECT_TRUE(a.unique());
  const detail::Storage moved = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_TRUE(moved.unique());
}

TEST(Storage, BorrowedMemoryIsReleasedOnceAndNeverUnique) {
  int released = 0;
  int data = 7;
  {
    const detail::Storage a = detail::Storage::borrow(&data, sizeof data, [&] { ++released; });
    const detail::Storage b = a;
    EXPECT_EQ(a.data(), &data);
    EXPECT_FALSE(a.unique());
    EXPECT_FALSE(a.owned());
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Storage, HugeRequestIsAnError) {
  EXPECT_THROW(detail::Storage::allocate(SIZE_MAX - 100), DeviceError);
  // The system overcommits: the allocation would succeed, but using it would kill the program.
  EXPECT_THROW(detail::Storage::allocate(size_t{1} << 46), DeviceError);
}

TEST(Storage, IsAlignedUnlessGuarded) {
  for (const size_t bytes : {0, 1, 63, 64, 65, 4096, 100000}) {
    const detail::Storage s = detail::Storage::allocate(bytes);
    EXPECT_NE(s.data(), nullptr);
    const auto address = reinterpret_cast<uintptr_t>(s.data());
    EXPECT_EQ(guarded() ? (address + bytes) % 4096 : address % 64, 0u);
    if (bytes != 0) std::memset(s.data(), 1, bytes);
  }
}

using StorageDeathTest = testing::Test;

// The read is this file's own, so that a build with sanitizers compiles it (__SANITIZE_ADDRESS__).
TEST(StorageDeathTest, ReadingPastTheEndIsCaught) {
  if (!guarded() && !test::kAddressSanitizer) GTEST_SKIP() << "needs CALQUE_GUARD=1 or AddressSanitizer";
  const AnyArray a = AnyArray::full<float>({3}, 1.0f);
  EXPECT_DEATH(
      {
        volatile float past = *const_cast<volatile float*>(a.data_as<float>() + 3);
        (void)past;
      },
      "");
}

TEST(Storage, GuardedMemoryThatIsUsedAgainEndsAtItsPageAndHasNoValuesOfBefore) {
  if (!guarded()) GTEST_SKIP() << "needs CALQUE_GUARD=1";
  for (const size_t bytes : {0, 1, 100, 4096, 8 * 4096, 8 * 4096 + 1}) {
    for (int i = 0; i < 100; ++i) {
      const detail::Storage s = detail::Storage::allocate(bytes), other = detail::Storage::allocate(bytes);
      ASSERT_NE(s.data(), other.data());
      ASSERT_EQ((reinterpret_cast<uintptr_t>(s.data()) + bytes) % 4096, 0u);
      const std::span<uint8_t> contents(static_cast<uint8_t*>(s.data()), bytes);
      ASSERT_EQ(std::ranges::count(contents, 1), 0) << bytes;
      std::ranges::fill(contents, 1);
    }
  }
}

struct Counts {
  static inline int allocated = 0, released = 0;
};

TEST(Storage, AsksTheInstalledAllocator) {
  if (guarded()) GTEST_SKIP() << "guarded storage bypasses the allocator";
  static const detail::StorageAllocator counting{[](size_t bytes) {
                                                   ++Counts::allocated;
                                                   return std::aligned_alloc(64, bytes);
                                                 },
                                                 [](void* memory, size_t) noexcept {
                                                   ++Counts::released;
                                                   std::free(memory);
                                                 }};
  detail::Storage before = detail::Storage::allocate(10);
  detail::set_storage_allocator(&counting);
  {
    const AnyArray a = AnyArray::full<double>({5}, 1.0);
    EXPECT_EQ(Counts::allocated, 1);
    before = {};
    EXPECT_EQ(Counts::released, 0);
  }
  EXPECT_EQ(Counts::released, 1);
  detail::set_storage_allocator(nullptr);
}

}  // namespace
}  // namespace calque
