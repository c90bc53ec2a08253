#pragma once
// Target machines for device code.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/gpu/llvm_device_passes.h"
#include "codegen/jit/machine_passes.h"
#include "codegen/jit/session.h"
#include "codegen/llvm/llvm_errors.h"
#include "codegen/llvm/target.h"

namespace calque::codegen {

/// The PTX target for `arch`. Kernels with more than kFewParameters need a later version of PTX, and of the driver.
/// Throws CompileError for an unsupported architecture.
TargetInfo ptx_target(const std::string& arch, bool many_parameters = false);
inline constexpr size_t kFewParameters = 4352 / 8, kMostParameters = 32764 / 8;
inline constexpr int kPtxOfManyParameters = 81;

/// A target machine that is reused from module to module, and passes over device code with its cost model.
class DeviceBackend {
 public:
  static std::unique_ptr<DeviceBackend> make(const TargetInfo& info);
  explicit DeviceBackend(const TargetInfo& info) : info_(info) {}
  /// Runs the passes before the last one. Functions other than kernels are inlined.
  void optimize(llvm::Module& module);
  /// Sets the module's triple, data layout and function attributes to the target's.
  void retarget(llvm::Module& module) const;
  Object emit(llvm::Module& module, llvm::CodeGenFileType type);

 private:
  void set_up();

  TargetInfo info_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  Analyses analyses_;
  llvm::ModulePassManager passes_;
};

/// A back end taken from the pool of idle ones, and returned to it.
class BorrowedDeviceBackend {
 public:
  explicit BorrowedDeviceBackend(const TargetInfo& info);
  BorrowedDeviceBackend(const BorrowedDeviceBackend&) = delete;
  BorrowedDeviceBackend& operator=(const BorrowedDeviceBackend&) = delete;
  ~BorrowedDeviceBackend();
  DeviceBackend* operator->() const { return &*backend_; }
  DeviceBackend& operator*() const { return *backend_; }

 private:
  std::string key_;
  LlvmOwned<DeviceBackend> backend_;
};

}  // namespace calque::codegen
