// Compares our declarations of NCCL's interface with NVIDIA's, if their header is installed.
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/cuda/nccl.h"

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

namespace calque::runtime::nccl {
namespace {

#if __has_include(<nccl.h>)

/// The parameters of a function as it passes them: pointers, numbers by their size, structures by their size.
template <class T>
constexpr int kind_of() {
  if constexpr (std::is_pointer_v<T>) return -1;
  return static_cast<int>(sizeof(T));
}
template <class R, class... P>
std::vector<int> shape_of(R (*)(P...)) {
  return {kind_of<R>(), kind_of<P>()...};
}

TEST(NcclLayouts, FunctionsAreTheLibrarys) {
#define CALQUE_X(member, symbol, parameters) \
  EXPECT_EQ(shape_of(Library{}.member), shape_of(decltype(&symbol){})) << #symbol;
  CALQUE_NCCL_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
  EXPECT_EQ(shape_of(Library{}.error_text), shape_of(decltype(&ncclGetErrorString){}));
  EXPECT_EQ(shape_of(Library{}.last_error), shape_of(decltype(&ncclGetLastError){}));
}

TEST(NcclLayouts, NumbersAreTheLibrarys) {
  const auto number = [](auto value) { return static_cast<long>(value); };
  EXPECT_EQ(sizeof(UniqueId), sizeof(ncclUniqueId));
  EXPECT_EQ(number(kSuccess), number(ncclSuccess));
  EXPECT_EQ(number(kI8), number(ncclInt8));
  EXPECT_EQ(number(kU8), number(ncclUint8));
  EXPECT_EQ(number(kI32), number(ncclInt32));
  EXPECT_EQ(number(kU32), number(ncclUint32));
  EXPECT_EQ(number(kI64), number(ncclInt64));
  EXPECT_EQ(number(kU64), number(ncclUint64));
  EXPECT_EQ(number(kF16), number(ncclFloat16));
  EXPECT_EQ(number(kF32), number(ncclFloat32));
  EXPECT_EQ(number(kF64), number(ncclFloat64));
  EXPECT_EQ(number(kBf16), number(ncclBfloat16));
  EXPECT_EQ(number(kSum), number(ncclSum));
  EXPECT_EQ(number(kProd), number(ncclProd));
  EXPECT_EQ(number(kMax), number(ncclMax));
  EXPECT_EQ(number(kMin), number(ncclMin));
  EXPECT_EQ(number(kOldestVersion), number(NCCL_VERSION(2, 10, 0)));
}

#else

TEST(NcclLayouts, AreTheLibrarys) {
  GTEST_SKIP() << "the compiler found no nccl.h (of NVIDIA's NCCL) to compare the declarations with";
}

#endif

}  // namespace
}  // namespace calque::runtime::nccl
