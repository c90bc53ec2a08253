#pragma once
// Helpers that compile texts of device code for the simulator and to PTX.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calque/ir/errors.h"

#include "codegen/gpu/device_text.h"
#include "runtime/simulator/simulator.h"

namespace calque::test {

inline const char* const kOperations = R"(
declare i32 @cq.thread()
declare i32 @cq.threads()
declare i64 @cq.block()
declare i64 @cq.blocks()
declare void @cq.barrier()
declare void @cq.warp.barrier()
declare i32 @cq.shuffle.xor(i32, i32)
declare i32 @cq.shuffle.up(i32, i32)
declare i32 @cq.shuffle.index(i32, i32)
declare ptr addrspace(3) @cq.shared(i32)
declare {float, float, float, float} @cq.mma.f16(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare {float, float, float, float} @cq.mma.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare {float, float, float, float} @cq.mma.tf32(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare {i32, i32, i32, i32} @cq.load.matrix(ptr addrspace(3))
declare {i32, i32, i32, i32} @cq.load.matrix.transposed(ptr addrspace(3))
declare void @cq.async.copy(ptr addrspace(3), ptr addrspace(1), i32)
declare void @cq.async.commit()
declare void @cq.async.wait(i32)
)";

inline std::string text(const std::string& body) { return kOperations + body; }

class DeviceTextTest : public testing::Test {
 protected:
  template <class T>
  T* buffer(size_t count) {
    void* p = memory.allocate(count * sizeof(T));
    buffers.push_back(p);
    return static_cast<T*>(p);
  }
  std::string mistake(const std::string& body, const codegen::DeviceFunction& function) {
    const auto program = codegen::simulated_of_text(text(body), {function});
    try {
      runtime::launch(*program, 0, buffers, memory);
    } catch (const DeviceError& e) {
      return e.what();
    }
    return "";
  }

  runtime::SimulatedMemory memory;
  std::vector<void*> buffers;
};

inline std::string ptx(const std::string& body, const codegen::DeviceFunction& function,
                       const std::string& arch = "sm_80") {
  codegen::DeviceOptions options;
  options.arch = arch;
  return codegen::ptx_of_text(text(body), {function}, options).ptx;
}

}  // namespace calque::test
