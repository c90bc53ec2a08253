// Device code from texts of LLVM IR through both final passes: to PTX, which the assembler must accept, and to the
// simulator, which must see every access.
#include <cstring>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/gpu/device_texts.h"
#include "support/ptxas.h"

namespace calque::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class DeviceText : public DeviceTextTest {};

const char* const kScale = R"(
define void @scale(ptr addrspace(1) noalias readonly %x, ptr addrspace(1) %y) {
  %t = call i32 @cq.thread()
  %n = call i32 @cq.threads()
  %b = call i64 @cq.block()
  %t64 = zext i32 %t to i64
  %n64 = zext i32 %n to i64
  %o = mul i64 %b, %n64
  %i = add i64 %o, %t64
  %p = getelementptr float, ptr addrspace(1) %x, i64 %i
  %q = getelementptr float, ptr addrspace(1) %y, i64 %i
  %v = load float, ptr addrspace(1) %p
  %w = fmul float %v, 3.0
  store float %w, ptr addrspace(1) %q
  ret void
})";

TEST_F(DeviceText, RunsOnTheSimulator) {
  auto* x = buffer<float>(128);
  auto* y = buffer<float>(128);
  std::iota(x, x + 128, 1.0F);
  EXPECT_EQ(mistake(kScale, {"scale", 2, 64, 0}), "");
  for (int i = 0; i < 128; ++i) EXPECT_EQ(y[i], 3 * x[i]);
}

TEST_F(DeviceText, LoadsAndStoresAreChecked) {
  buffer<float>(128);
  buffer<float>(127);
  EXPECT_THAT(mistake(kScale, {"scale", 2, 64, 0}),
              HasSubstr("scale: block 1, thread 63: store of 4 bytes out of bounds: at byte 508 of an allocation of "
                        "508 bytes"));
  EXPECT_THAT(mistake(kScale, {"scale", 3, 64, 0}), HasSubstr("block 1, thread 63: store"));
  std::swap(buffers[0], buffers[1]);
  EXPECT_THAT(mistake(kScale, {"scale", 2, 64, 0}), HasSubstr("block 1, thread 63: load of 4 bytes out of bounds"));
}

// The simulator checks a vector access as the accesses that PTX splits it into.
std::string copy_vectors(int alignment) {
  const std::string a = std::to_string(alignment);
  return R"(
define void @copy(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %t = call i32 @cq.thread()
  %t64 = zext i32 %t to i64
  %p = getelementptr <4 x float>, ptr addrspace(1) %x, i64 %t64
  %q = getelementptr <4 x float>, ptr addrspace(1) %y, i64 %t64
  %v = load <4 x float>, ptr addrspace(1) %p, align )" +
         a + R"(
  store <4 x float> %v, ptr addrspace(1) %q, align )" +
         a + R"(
  ret void
})";
}

TEST_F(DeviceText, VectorsAreCheckedWhole) {
  auto* x = buffer<float>(128);
  auto* y = buffer<float>(128);
  std::iota(x, x + 128, 1.0F);
  EXPECT_EQ(mistake(copy_vectors(16), {"copy", 1, 32, 0}), "");
  EXPECT_EQ(std::memcmp(x, y, 512), 0);
  buffers[1] = memory.allocate(127 * 4);
  EXPECT_THAT(mistake(copy_vectors(16), {"copy", 1, 32, 0}),
              HasSubstr("thread 31: store of 16 bytes out of bounds: at byte 496 of an allocation of 508 bytes"));
  EXPECT_THAT(mistake(copy_vectors(4), {"copy", 1, 32, 0}),
              HasSubstr("thread 31: store of 4 bytes out of bounds: at byte 508 of an allocation of 508 bytes"));
  buffers[0] = x + 2;
  EXPECT_THAT(mistake(copy_vectors(16), {"copy", 1, 31, 0}), HasSubstr("a multiple of 32"));
  EXPECT_THAT(mistake(copy_vectors(16), {"copy", 1, 32, 0}), HasSubstr("thread 0: misaligned load of 16 bytes"));
  EXPECT_THAT(mistake(copy_vectors(8), {"copy", 1, 32, 0}), Not(HasSubstr("misaligned")));
}

// Reverses 64 numbers through shared memory, and adds that of the neighbour by a shuffle.
std::string reverse(const std::string& barrier) {
  return R"(
define void @reverse(ptr addrspace(1) %x) {
  %t = call i32 @cq.thread()
  %t4 = mul i32 %t, 4
  %s = call ptr addrspace(3) @cq.shared(i32 %t4)
  %t64 = zext i32 %t to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %t64
  %v = load i32, ptr addrspace(1) %p
  store i32 %v, ptr addrspace(3) %s
  )" + barrier +
         R"(
  %u = sub i32 252, %t4
  %s2 = call ptr addrspace(3) @cq.shared(i32 %u)
  %w = load i32, ptr addrspace(3) %s2
  %z = call i32 @cq.shuffle.xor(i32 %w, i32 1)
  %sum = add i32 %w, %z
  store i32 %sum, ptr addrspace(1) %p
  ret void
})";
}

TEST_F(DeviceText, ExchangesThroughSharedMemoryAndShuffles) {
  auto* x = buffer<int32_t>(64);
  std::iota(x, x + 64, 0);
  EXPECT_EQ(mistake(reverse("call void @cq.barrier()"), {"reverse", 1, 64, 256}), "");
  for (int i = 0; i < 64; ++i) EXPECT_EQ(x[i], 63 - i + (63 - (i ^ 1)));
}

// The neighbour's number is different after the barrier, even if the store of this thread cannot have changed it.
TEST_F(DeviceText, LoadsStayBehindBarriers) {
  auto* x = buffer<int32_t>(64 + 2);
  auto* y = buffer<int32_t>(64);
  std::iota(x, x + 66, 0);
  const std::string shift = R"(
define void @shift(ptr addrspace(1) noalias %x, ptr addrspace(1) noalias %y) {
  %t = call i32 @cq.thread()
  %t64 = zext i32 %t to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %t64
  %q = getelementptr i32, ptr addrspace(1) %p, i64 1
  %r = getelementptr i32, ptr addrspace(1) %y, i64 %t64
  %a = load i32, ptr addrspace(1) %q
  call void @cq.barrier()
  store i32 %a, ptr addrspace(1) %p
  call void @cq.barrier()
  %b = load i32, ptr addrspace(1) %q
  store i32 %b, ptr addrspace(1) %r
  ret void
})";
  EXPECT_EQ(mistake(shift, {"shift", 1, 64, 0}), "");
  for (int i = 0; i < 63; ++i) EXPECT_EQ(y[i], i + 2);
  EXPECT_EQ(y[63], 64);
}

TEST_F(DeviceText, MissingBarrierIsFound) {
  buffer<int32_t>(64);
  EXPECT_THAT(mistake(reverse(""), {"reverse", 1, 64, 256}), HasSubstr("which no thread has written"));
  EXPECT_THAT(mistake(reverse("call void @cq.warp.barrier()"), {"reverse", 1, 64, 256}),
              HasSubstr("no thread has written"));
  EXPECT_THAT(mistake(reverse("call void @cq.barrier()"), {"reverse", 1, 64, 252}),
              HasSubstr("store of 4 bytes out of bounds: at byte 252 of 252 bytes of shared memory"));
}

TEST_F(DeviceText, DivergentBarrierIsFound) {
  EXPECT_THAT(mistake(R"(
define void @diverge() {
  %t = call i32 @cq.thread()
  %c = icmp ult i32 %t, 40
  br i1 %c, label %then, label %done
then:
  call void @cq.barrier()
  br label %done
done:
  ret void
})",
                      {"diverge", 1, 64, 0}),
              HasSubstr("diverge: block 0, thread 0: divergence: it waits at the barrier, but thread 40 has returned"));
}

// Functions that are not kernels are inlined into their callers, including operations on threads.
TEST_F(DeviceText, HelpersAreInlined) {
  auto* x = buffer<int32_t>(64);
  const std::string helped = R"(
define internal i32 @number() noinline {
  %t = call i32 @cq.thread()
  %b = call i64 @cq.block()
  %b32 = trunc i64 %b to i32
  %o = mul i32 %b32, 32
  %i = add i32 %o, %t
  ret i32 %i
}
define void @helped(ptr addrspace(1) %x) {
  %i = call i32 @number()
  %i64 = zext i32 %i to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %i64
  store i32 %i, ptr addrspace(1) %p
  ret void
})";
  EXPECT_EQ(mistake(helped, {"helped", 2, 32, 0}), "");
  for (int i = 0; i < 64; ++i) EXPECT_EQ(x[i], i);
  EXPECT_THAT(ptx(helped, {"helped", 2, 32, 0}), Not(HasSubstr("call")));
}

TEST_F(DeviceText, AtomicsAreCheckedAndAdd) {
  auto* x = buffer<float>(1);
  x[0] = 0;
  const std::string count = R"(
define void @count(ptr addrspace(1) %x) {
  %b = call i64 @cq.block()
  %p = getelementptr float, ptr addrspace(1) %x, i64 %b
  %old = atomicrmw fadd ptr addrspace(1) %p, float 1.0 monotonic
  ret void
})";
  EXPECT_EQ(mistake(count, {"count", 1, 96, 0}), "");
  EXPECT_EQ(x[0], 96.0F);
  EXPECT_THAT(mistake(count, {"count", 2, 32, 0}), HasSubstr("block 1, thread 0: atomic operation of 4 bytes out of"));
  EXPECT_THAT(ptx(count, {"count", 1, 96, 0}), HasSubstr("atom.global.add.f32"));
}

TEST_F(DeviceText, MistakesInTextsAreErrors) {
  const auto refused = [](const std::string& body) {
    try {
      codegen::simulated_of_text(text(body), {{"k", 1, 32, 0}});
    } catch (const CompileError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused("define void @k() { ret i32 }"), HasSubstr("LLVM IR: line 20, column 28: "));
  EXPECT_THAT(refused("define void @other() { ret void }"), HasSubstr("no kernel k"));
  // The simulator would not see the accesses of a memcpy.
  EXPECT_THAT(refused(R"(
declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
define void @k(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %n) {
  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %n, i1 false)
  ret void
})"),
              HasSubstr("k: the simulator cannot follow"));
  codegen::DeviceOptions old;
  old.arch = "sm_70";
  EXPECT_THROW(codegen::ptx_of_text(text(kScale), {{"scale", 1, 32, 0}}, old), CompileError);
}

// ---- PTX

TEST_F(DeviceText, KernelsNameTheirThreads) {
  const std::string out = ptx(kScale, {"scale", 2, 64, 0});
  EXPECT_THAT(out, HasSubstr(".visible .entry scale("));
  EXPECT_THAT(out, HasSubstr(".maxntid 64"));
  EXPECT_THAT(out, HasSubstr("ld.global.nc.b32"));
  EXPECT_THAT(ptx(copy_vectors(16), {"copy", 1, 32, 0}), HasSubstr("ld.global.v4.b32"));
}

// All operations in one kernel, so that none is omitted.
const char* const kEverything = R"(
define void @everything(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %t = call i32 @cq.thread()
  %n = call i32 @cq.threads()
  %bl = call i64 @cq.block()
  %bs = call i64 @cq.blocks()
  %t16 = mul i32 %t, 16
  %s = call ptr addrspace(3) @cq.shared(i32 %t16)
  %t64 = zext i32 %t16 to i64
  %p = getelementptr i8, ptr addrspace(1) %x, i64 %t64
  %q = getelementptr i8, ptr addrspace(1) %y, i64 %t64
  call void @cq.async.copy(ptr addrspace(3) %s, ptr addrspace(1) %p, i32 %n)
  call void @cq.async.commit()
  call void @cq.async.wait(i32 0)
  call void @cq.barrier()
  %m = call {i32, i32, i32, i32} @cq.load.matrix(ptr addrspace(3) %s)
  %m0 = extractvalue {i32, i32, i32, i32} %m, 0
  %m1 = extractvalue {i32, i32, i32, i32} %m, 1
  %m2 = extractvalue {i32, i32, i32, i32} %m, 2
  %m3 = extractvalue {i32, i32, i32, i32} %m, 3
  %k = call {i32, i32, i32, i32} @cq.load.matrix.transposed(ptr addrspace(3) %s)
  %k0 = extractvalue {i32, i32, i32, i32} %k, 0
  %k1 = extractvalue {i32, i32, i32, i32} %k, 1
  %c = call {float, float, float, float} @cq.mma.f16(i32 %m0, i32 %m1, i32 %m2, i32 %m3, i32 %k0, i32 %k1, float 0.0, float 0.0, float 0.0, float 0.0)
  %c0 = extractvalue {float, float, float, float} %c, 0
  %c1 = extractvalue {float, float, float, float} %c, 1
  %d = call {float, float, float, float} @cq.mma.bf16(i32 %m0, i32 %m1, i32 %m2, i32 %m3, i32 %k0, i32 %k1, float %c0, float %c1, float 0.0, float 0.0)
  %d0 = extractvalue {float, float, float, float} %d, 0
  %d1 = extractvalue {float, float, float, float} %d, 1
  %e = call {float, float, float, float} @cq.mma.tf32(i32 %m0, i32 %m1, i32 %m2, i32 %m3, i32 %k0, i32 %k1, float %d0, float %d1, float 0.0, float 0.0)
  %e0 = extractvalue {float, float, float, float} %e, 0
  %bits = bitcast float %e0 to i32
  %z0 = call i32 @cq.shuffle.xor(i32 %bits, i32 1)
  %z1 = call i32 @cq.shuffle.up(i32 %z0, i32 4)
  %z2 = call i32 @cq.shuffle.index(i32 %z1, i32 %n)
  call void @cq.warp.barrier()
  %b32 = trunc i64 %bl to i32
  %bs32 = trunc i64 %bs to i32
  %o1 = add i32 %z2, %b32
  %o2 = add i32 %o1, %bs32
  store i32 %o2, ptr addrspace(1) %q
  ret void
})";

TEST_F(DeviceText, EveryOperationHasItsInstruction) {
  const std::string out = ptx(kEverything, {"everything", 1, 32, 512}, "sm_80");
  for (const char* instruction :
       {"%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x", "bar.sync", "bar.warp.sync", "shfl.sync.bfly", "shfl.sync.up",
        "shfl.sync.idx", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "cp.async.cg.shared.global", "cp.async.commit_group",
        "cp.async.wait_group", ".extern .shared"})
    EXPECT_THAT(out, HasSubstr(instruction));
  EXPECT_THAT(out, Not(HasSubstr("cq.")));
}

class DeviceTextArchs : public testing::TestWithParam<const char*> {};

TEST_P(DeviceTextArchs, AreAssembled) {
  if (!find_ptxas()) GTEST_SKIP() << kNoPtxas;
  const std::string arch = GetParam();
  EXPECT_EQ(ptxas_complaint(ptx(kEverything, {"everything", 1, 32, 512}, arch), arch), "");
  EXPECT_EQ(ptxas_complaint(ptx(reverse("call void @cq.barrier()"), {"reverse", 1, 64, 256}, arch), arch), "");
  const Assembled one = assemble(ptx(kScale, {"scale", 2, 64, 0}, arch), arch);
  ASSERT_TRUE(one.accepted) << one.messages;
  ASSERT_EQ(one.kernels.size(), 1U);
  EXPECT_EQ(one.kernels[0].name, "scale");
  EXPECT_GT(one.kernels[0].registers, 0);
}

INSTANTIATE_TEST_SUITE_P(Archs, DeviceTextArchs, testing::Values("sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

// ptxas_complaint reports local memory.
TEST_F(DeviceText, LocalMemoryIsComplainedOf) {
  if (!find_ptxas()) GTEST_SKIP() << kNoPtxas;
  const std::string local = R"(
define void @local(ptr addrspace(1) %x) {
  %t = call i32 @cq.thread()
  %a = alloca [64 x i32]
  %v = load volatile i32, ptr addrspace(1) %x
  %p = getelementptr i32, ptr %a, i32 %t
  store volatile i32 %v, ptr %p
  %q = getelementptr i32, ptr %a, i32 %v
  %w = load volatile i32, ptr %q
  store i32 %w, ptr addrspace(1) %x
  ret void
})";
  EXPECT_THAT(ptxas_complaint(ptx(local, {"local", 1, 32, 0}), "sm_80"), HasSubstr("uses local memory: 256 bytes"));
  EXPECT_THAT(ptxas_complaint("nothing", "sm_80"), HasSubstr("ptxas refuses it"));
}

}  // namespace
}  // namespace calque::test
