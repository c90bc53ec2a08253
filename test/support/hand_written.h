#pragma once
// Hand-written kernels for the simulator: they call the simulator exactly as generated code does.
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calque/ir/errors.h"

#include "codegen/gpu/device_code.h"
#include "runtime/simulator/simulator.h"

namespace calque::test {

using codegen::SimulatedThread;
using codegen::SimulatorTable;

/// One kernel, `kernel`.
class HandWritten final : public codegen::SimulatedProgram {
 public:
  HandWritten(Function function, int64_t blocks, int32_t threads, int32_t shared_bytes = 0)
      : function_(function), functions_{{"kernel", blocks, threads, shared_bytes}} {}
  Function function(size_t) const override { return function_; }
  const codegen::DeviceFunctions& functions() const override { return functions_; }

 private:
  Function function_;
  codegen::DeviceFunctions functions_;
};

template <class T>
T load(SimulatedThread* t, const T* p, int32_t site = 0, int32_t space = 0) {
  t->table->access(t, p, sizeof(T), SimulatorTable::load + space, site);
  return *p;
}
template <class T>
void store(SimulatedThread* t, T* p, T value, int32_t site = 0, int32_t space = 0) {
  t->table->access(t, p, sizeof(T), SimulatorTable::store + space, site);
  *p = value;
}

template <class T>
T* shared(SimulatedThread* t, int64_t index) {
  return reinterpret_cast<T*>(t->shared + index * static_cast<int64_t>(sizeof(T)));
}
template <class T>
T load_shared(SimulatedThread* t, int64_t index, int32_t site = 0) {
  return load(t, shared<T>(t, index), site, SimulatorTable::shared);
}
template <class T>
void store_shared(SimulatedThread* t, int64_t index, T value, int32_t site = 0) {
  store(t, shared<T>(t, index), value, site, SimulatorTable::shared);
}

/// The error message of the launch, or "".
inline std::string mistake_of(const codegen::SimulatedProgram& program, std::span<void* const> buffers,
                              const runtime::SimulatedMemory& memory) {
  try {
    runtime::launch(program, 0, buffers, memory);
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "";
}

/// Buffers of simulated memory, and kernels that run on them.
class SimulatorTest : public testing::Test {
 protected:
  template <class T>
  T* buffer(size_t count) {
    void* p = memory.allocate(count * sizeof(T));
    buffers.push_back(p);
    return static_cast<T*>(p);
  }
  std::string mistake(codegen::SimulatedProgram::Function f, int64_t blocks, int32_t threads, int32_t shared = 0) {
    return mistake_of(HandWritten(f, blocks, threads, shared), buffers, memory);
  }

  runtime::SimulatedMemory memory;
  std::vector<void*> buffers;
};

}  // namespace calque::test
