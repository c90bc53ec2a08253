// Arithmetic of device code: contracted only where flags allow it.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/gpu/device_texts.h"
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
  EXPECT_THAT(strict, HasSubstr("mul.rn.f32"));  // without `.rn` the assembler may contract
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

}  // namespace
}  // namespace calque::test
