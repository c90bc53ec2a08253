#pragma once
// Emits one function of device code for a kernel that is scheduled for a GPU. KernelEmitter emits the code of one
// thread: scalar, or 16-byte vectors in loops marked so. DeviceEmitter adds the mapping of iterations to threads, and
// collectives of thread groups. Code is either *cooperative*, executed by all threads of a group with the same values
// in all, or per-thread, inside a loop that is mapped to threads.
#include "codegen/emit/emitter.h"
#include "codegen/gpu/device_code.h"
#include "codegen/gpu/device_ops.h"

namespace calque::codegen {

/// A kernel's function in a module, and its launch configuration.
struct DeviceKernel {
  llvm::Function* function = nullptr;
  DeviceFunction launch;
};

class DeviceEmitter final : public KernelEmitter {
 public:
  /// `name`: of the function.
  DeviceEmitter(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                const kernel::Kernel& kernel, std::vector<bool> overlaps, std::string name);
  DeviceKernel emit_device();

 private:
  Reg load(const Instruction& i) override;
  void store(const Instruction& i) override;
  void loop(const Instruction& i) override;
  void contraction(const Instruction& i) override;

  // ---- device_emitter.cpp
  llvm::Value* op(DeviceOp o, llvm::ArrayRef<llvm::Value*> operands = {}) { return device_op(b_, o, operands); }
  llvm::Value* integer(int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); }
  llvm::Value* add(llvm::Value* a, llvm::Value* b) { return b_.CreateAdd(a, b, "", true, true); }
  void compute_thread_position();
  /// Emits `body` so that it runs only where the condition holds. Null: always.
  void when(llvm::Value* condition, const std::function<void()>& body);
  /// The same for a body that yields values; `otherwise` are the values where it does not run.
  Values where(llvm::Value* condition, const Values& otherwise, const std::function<Values()>& body);
  bool is_group() const { return group_size_ > 1; }
  void barrier();
  /// Allocates shared memory of the block, 16-byte aligned. Returns its offset.
  int32_t allocate_shared(int64_t bytes);
  llvm::Value* shared(int32_t offset) { return op(DeviceOp::shared, {b_.getInt32(static_cast<uint32_t>(offset))}); }

  // ---- device_memory.cpp
  llvm::Value* load_vector(int32_t buffer, Id index_id, const Reg& index, llvm::Value* mask);
  void store_vector(const Instruction& i, const Reg& index, llvm::Value* value, llvm::Value* mask);
  /// A store of one thread; atomic where the instruction has a combiner.
  void store_one(const Instruction& i, llvm::Value* index, llvm::Value* value);
  /// A divisor of an index, from which the alignment of its accesses follows.
  int64_t divisor(Id id) const;
  llvm::Align vector_alignment(int32_t buffer, Id index_id) const;
  /// Whether the region stores to buffers that other threads of the group load or store too.
  bool stores_contended(const kernel::Region& region) const;
  static void find_contended(const kernel::Region& region, bool repeated, std::vector<int>& stores);

  // ---- device_loops.cpp
  void distribute(int64_t first, int64_t end, int64_t repeat, const std::function<void(llvm::Value*)>& body);
  void group_loop(const Instruction& i);
  void iteration(const Instruction& i, llvm::Value* index, unsigned lanes);
  void thread_loop(const Instruction& i);
  void thread_scope(const std::function<void()>& body);

  // ---- device_reduction.cpp
  Values identities(const Instruction& i, bool vectorised) override;
  void thread_reduction(const Instruction& i);
  void group_reduction(const Instruction& i);
  Values fold_strided(const Instruction& i);
  Values fold_vectors(const Instruction& i, unsigned lanes);
  Values combine_group(const Instruction& i, Values v);
  Values combine_warp(const Instruction& i, Values v);
  llvm::Value* shuffle(DeviceOp mode, llvm::Value* v, llvm::Value* operand);
  Values shuffle(DeviceOp mode, const Values& v, llvm::Value* operand);

  // ---- device_scan.cpp
  void group_scan(const Instruction& i);
  Values scan_contributions(const Scan& scan, llvm::Value* index);
  Values prefix_warp(const Instruction& i, Values v);

  // ---- device_contraction.cpp
  friend class DeviceContraction;

  kernel::Launch launch_;
  int32_t group_size_ = 1;
  std::string name_;
  llvm::Value* group_index_ = nullptr;  ///< i64: of the thread group in the grid
  llvm::Value* rank_ = nullptr;         ///< i64: of the thread in its group
  llvm::Value* lane_ = nullptr;         ///< i32: of the thread in its warp
  llvm::Value* warp_ = nullptr;         ///< i32: of the warp in its group
  bool cooperative_ = false;
  std::vector<bool> contended_;               ///< by buffer: several threads of a group access it, one of them storing
  const Instruction* vector_loop_ = nullptr;  ///< the one of `subranges_` that runs in vectors of loop_lanes_
  unsigned loop_lanes_ = 0;
  llvm::Value* tile_ = nullptr;  ///< i64: tile number of the contraction to be emitted (kernel::GpuTiles)
  int32_t shared_bytes_ = 0;
  std::unordered_map<Id, const Instruction*> defined_;
  std::unordered_map<Id, int64_t> divisors_;  ///< of loops' indices
};

/// Emits every kernel of the program into the module.
std::vector<DeviceKernel> emit_device_program(llvm::Module& module, const kernel::Program& program,
                                              const DeviceOptions& options);

}  // namespace calque::codegen
