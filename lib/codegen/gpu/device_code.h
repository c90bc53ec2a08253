#pragma once
// Code of a program whose kernels are scheduled for a GPU (kernel/schedule_gpu/schedule_gpu.h): PTX, or the same
// kernels retargeted to the host for the simulator. device_build.h makes it. No LLVM name appears here.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/codegen_watch.h"
#include "ir/pass_log.h"
#include "kernel/ir/program.h"

namespace calque::codegen {

struct DeviceOptions {
  enum class Form : uint8_t { ptx, simulated } form = Form::ptx;
  bool strict = false;
  bool fast_math = false;
  bool flush_subnormals = false;  ///< of f32: `.ftz` in PTX. The simulator flushes those of f64 too
  std::string arch = "sm_80";     ///< of PTX: sm_80 ... sm_90a
  int newest_ptx = 0;             ///< newest PTX that the driver accepts: 84 is 8.4; 0: any
  /// Conversion between f16 and f32 is one instruction: true on every GPU, not on every host of the simulator.
  bool half_conversion = true;
  PassLog* log = nullptr;         ///< of the compilation; may be null
  CodegenWatch* watch = nullptr;  ///< may be null
};

/// How many buffers a kernel may have at planning, so that drivers of the options' PTX version accept it.
size_t most_buffers(const DeviceOptions& options);

/// One function of device code. Its parameters are pointers to the kernel's buffers, in order.
struct DeviceFunction {
  std::string name;  ///< unique in its program; as in PTX
  int64_t blocks = 1;
  int32_t threads = 1;       ///< in a block: a multiple of 32
  int32_t shared_bytes = 0;  ///< dynamic shared memory of a block
};

/// By kernel of the program.
using DeviceFunctions = std::vector<DeviceFunction>;

struct PtxProgram {
  std::string ptx;
  DeviceFunctions functions;
};

/// The code of a program for one kind of device before it is loaded, for loading it again in another process.
struct DeviceImage {
  DeviceFunctions functions;
  std::string ptx;        ///< of a GPU
  std::string cubin;      ///< what the GPU's driver has made of the PTX; empty where it has not
  std::string simulated;  ///< the object that the simulator runs
};

// ---- the simulator's interface

/// The functions that simulated code calls. All take the running thread; `site` numbers the calling operation within
/// its function (for messages and to tell collectives apart). A function that finds a mistake does not return.
struct SimulatorTable {
  uint32_t version = 1;
  /// Barrier of all threads of the block.
  void (*barrier)(void* thread, int32_t site) noexcept = nullptr;
  /// Barrier of all threads of the warp.
  void (*warp_barrier)(void* thread, int32_t site) noexcept = nullptr;
  enum Shuffle : int32_t { xor_lane, up, index };
  /// The value of another lane of the warp: lane ^ operand, lane - operand (its own if that is negative), or operand.
  uint32_t (*shuffle)(void* thread, uint32_t value, int32_t mode, uint32_t operand, int32_t site) noexcept = nullptr;
  enum Access : int32_t { load = 0, store = 1, atomic = 2, shared = 4 };
  /// Before every access to global or shared memory: of `bytes` bytes at `address`; `kind` is an Access, plus `shared`.
  void (*access)(void* thread, const void* address, int64_t bytes, int32_t kind, int32_t site) noexcept = nullptr;
  /// Tensor cores. Every lane passes its fragments in PTX's layout and gets its fragment of the result: see mma.sync in
  /// the PTX ISA. shape: m16n8k16 of f16 (0) and bf16 (1), m16n8k8 of tf32 (2). `a` has 4 words, `b` 2, `c` 4 floats
  /// that are overwritten.
  void (*mma)(void* thread, int32_t shape, const uint32_t* a, const uint32_t* b, float* c,
              int32_t site) noexcept = nullptr;
  /// ldmatrix.x4 (.trans): lane l passes the address of row l % 8 of matrix l / 8, 16 bytes in shared memory.
  void (*load_matrix)(void* thread, const void* row, int32_t transposed, uint32_t* out,
                      int32_t site) noexcept = nullptr;
  /// cp.async of 16 bytes, of which `valid` come from global memory and the rest are zeros. The copy is complete once
  /// async_wait has returned.
  void (*async_copy)(void* thread, void* shared, const void* global, int32_t valid, int32_t site) noexcept = nullptr;
  void (*async_commit)(void* thread) noexcept = nullptr;
  /// Waits until at most `pending` of the latest commits are incomplete.
  void (*async_wait)(void* thread, int32_t pending) noexcept = nullptr;
};

/// The running thread as simulated functions see it: the first member of the simulator's own record.
struct SimulatedThread {
  const SimulatorTable* table = nullptr;
  int32_t thread = 0, threads = 1;  ///< in the block
  int64_t block = 0, blocks = 1;
  std::byte* shared = nullptr;  ///< the block's
};

class SimulatedProgram {
 public:
  /// Runs one thread: `buffers` holds the kernel's arguments.
  using Function = void (*)(SimulatedThread* thread, void* const* buffers);
  virtual ~SimulatedProgram() = default;
  virtual Function function(size_t kernel) const = 0;
  virtual const DeviceFunctions& functions() const = 0;
};

struct SimulatedObject {
  std::string object;  ///< an object file of the host
  DeviceFunctions functions;
};

/// Throws CompileError if no kernels can be made for the architecture, such as sm_90.
void check_arch(const std::string& arch);

/// Links an object that was compiled for this processor. Initializes no code generator. Throws CompileError.
std::shared_ptr<const SimulatedProgram> link_simulated(const std::string& object, DeviceFunctions functions);

}  // namespace calque::codegen
