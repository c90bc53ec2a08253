// Arithmetic of device code: contracted where flags allow it and nowhere else, and exact where NVPTX's own is not.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/device_texts.h"
#include "support/ptxas.h"

namespace calque::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class DeviceArithmetic : public DeviceTextTest {};

std::string arithmetic(const std::string& flags) {
  return R"(
define void @f(ptr addrspace(1) %x) {
  %t = call i32 @cq.thread()
  %t64 = zext i32 %t to i64
  %p = getelementptr float, ptr addrspace(1) %x, i64 %t64
  %v = load float, ptr addrspace(1) %p
  %m = fmul )" +
         flags + R"( float %v, %v
  %a = fadd )" +
         flags + R"( float %m, -1.0
  %d = fdiv float %a, 3.0
  %r = call float @llvm.sqrt.f32(float %d)
  store float %r, ptr addrspace(1) %p
  ret void
}
declare float @llvm.sqrt.f32(float))";
}

TEST_F(DeviceArithmetic, ContractsOnlyWhatFlagsAllow) {
  const std::string strict = ptx(arithmetic(""), {"f", 1, 32, 0});
  EXPECT_THAT(strict, Not(HasSubstr("fma")));
  EXPECT_THAT(strict, HasSubstr("mul.rn.f32"));  // what is not `.rn` the assembler may contract
  EXPECT_THAT(strict, HasSubstr("add.rn.f32"));
  EXPECT_THAT(strict, HasSubstr("div.rn.f32"));
  EXPECT_THAT(strict, HasSubstr("sqrt.rn.f32"));
  EXPECT_THAT(strict, Not(HasSubstr("ftz")));
  EXPECT_THAT(ptx(arithmetic("contract"), {"f", 1, 32, 0}), HasSubstr("fma.rn.f32"));
  EXPECT_EQ(ptxas_complaint(ptx(arithmetic("contract"), {"f", 1, 32, 0}), "sm_80"), "");
  auto* x = buffer<float>(32);
  for (int i = 0; i < 32; ++i) x[i] = 1.0F + static_cast<float>(i) * 0x1.0p-20F;
  const std::vector<float> in(x, x + 32);
  EXPECT_EQ(mistake(arithmetic(""), {"f", 1, 32, 0}), "");
  for (size_t i = 0; i < 32; ++i) {
    const float square = in[i] * in[i];
    EXPECT_EQ(x[i], std::sqrt((square - 1.0F) / 3.0F));
  }
}

std::string remainder_of(const std::string& type) {
  const std::string body = R"(
define void @rem(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %t = call i32 @cq.thread()
  %n = call i32 @cq.threads()
  %b = call i64 @cq.block()
  %b32 = trunc i64 %b to i32
  %o = mul i32 %b32, %n
  %i = add i32 %o, %t
  %i64 = zext i32 %i to i64
  %p = getelementptr TYPE, ptr addrspace(1) %x, i64 %i64
  %q = getelementptr TYPE, ptr addrspace(1) %y, i64 %i64
  %a = load TYPE, ptr addrspace(1) %p
  %c = load TYPE, ptr addrspace(1) %q
  %r = frem TYPE %a, %c
  store TYPE %r, ptr addrspace(1) %p
  ret void
})";
  return std::regex_replace(body, std::regex("TYPE"), type);
}

template <class T, class Bits>
void check_remainders(T* x, T* y, size_t count, const std::function<void()>& run) {
  uint64_t state = 1;
  const auto random = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return state ^ state >> 33;
  };
  using Limits = std::numeric_limits<T>;
  const T corners[] = {T(0),
                       T(-0.0),
                       T(1),
                       T(-1),
                       T(0.5),
                       Limits::min(),
                       Limits::denorm_min(),
                       -Limits::denorm_min(),
                       Limits::max(),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::min() - Limits::denorm_min(),
                       T(3)};
  const auto draw = [&]() -> T {
    const uint64_t kind = random() % 8;
    if (kind == 0) return corners[random() % std::size(corners)];
    if (kind < 4) return static_cast<T>(static_cast<int64_t>(random() % 2001) - 1000) / 8;
    return std::bit_cast<T>(static_cast<Bits>(random()));
  };
  std::vector<T> want(count);
  for (size_t i = 0; i < count; ++i) {
    x[i] = draw();
    y[i] = draw();
    want[i] = std::fmod(x[i], y[i]);
  }
  const std::vector<T> a(x, x + count);
  run();
  for (size_t i = 0; i < count; ++i) {
    if (std::isnan(want[i]) && std::isnan(x[i])) continue;
    ASSERT_EQ(std::bit_cast<Bits>(x[i]), std::bit_cast<Bits>(want[i])) << a[i] << " % " << y[i];
  }
}

// LLVM's own way for NVPTX is right for small quotients only.
TEST_F(DeviceArithmetic, RemaindersAreExact) {
  constexpr size_t kCount = 1 << 14;
  auto* x = buffer<float>(kCount);
  auto* y = buffer<float>(kCount);
  check_remainders<float, uint32_t>(
      x, y, kCount, [&] { EXPECT_EQ(mistake(remainder_of("float"), {"rem", kCount / 256, 256, 0}), ""); });
  buffers.clear();
  auto* u = buffer<double>(kCount);
  auto* v = buffer<double>(kCount);
  check_remainders<double, uint64_t>(
      u, v, kCount, [&] { EXPECT_EQ(mistake(remainder_of("double"), {"rem", kCount / 256, 256, 0}), ""); });
  EXPECT_THAT(ptx(remainder_of("float"), {"rem", 1, 256, 0}), Not(HasSubstr("div.rn")));
  EXPECT_EQ(ptxas_complaint(ptx(remainder_of("double"), {"rem", 1, 256, 0}), "sm_80"), "");
}

}  // namespace
}  // namespace calque::test
