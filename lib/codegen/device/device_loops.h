#pragma once
// Loops of device code: the mapping of their iterations to thread groups and threads.
#include <functional>
#include <unordered_map>

#include "codegen/loops/loops.h"

namespace calque::codegen {

class DeviceMemory;
class ThreadGroup;

class DeviceLoops {
 public:
  DeviceLoops(KernelEmitter& kernel, ThreadGroup& group, DeviceMemory& memory);
  void emit(const kernel::Instruction& i);
  /// A product is the innermost loop of a nest that is mapped to thread groups: a group computes a tile of it at a
  /// time.
  void contraction(const kernel::Instruction& i);

 private:
  using Instruction = kernel::Instruction;

  /// A nest of loops that are mapped to thread groups, and how many iterations of each are distributed.
  struct Nest {
    std::vector<const Instruction*> loops;
    std::vector<int64_t> extents;
    unsigned lanes = 0;  ///< the innermost loop runs in vectors of as many; 0: it does not
    /// The loop with the other thread tile, if the innermost one has one. The extents of the two are then in blocks.
    const Instruction* tiled = nullptr;
    const Instruction& innermost() const { return *loops.back(); }
    bool is_product() const { return innermost().op == kernel::Op::contraction; }
    int64_t count() const;
  };
  Nest nest_of(const Instruction& i) const;
  void group_loop(const Instruction& i);
  void nest_iteration(const Nest& nest, llvm::Value* number);
  void find_indices(const Nest& nest, llvm::Value* number);
  void rectangle(const Nest& nest, llvm::Value* number);
  void partial_rectangle(const Nest& nest, llvm::Value* row, llvm::Value* column);
  void distribute(int64_t first, int64_t end, int64_t repeat, const std::function<void(llvm::Value*)>& body);
  void thread_loop(const Instruction& i);
  void iteration(const Instruction& i, llvm::Value* index, unsigned lanes);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  ThreadGroup& group_;
  DeviceMemory& memory_;
  LoopEmitter unmapped_;  ///< loops that every thread runs on its own
  /// Of the nest that is being emitted: the iteration of each loop that a group runs, and the tile of its product
  /// (i64: see kernel::GpuTiles).
  std::unordered_map<const Instruction*, llvm::Value*> indices_;
  llvm::Value* tile_ = nullptr;
  const Instruction* vector_loop_ = nullptr;  ///< the one that runs in vectors of vector_lanes_
  unsigned vector_lanes_ = 0;
  const Instruction* tiled_loop_ = nullptr;  ///< see Nest::tiled, and a divisor of its index
  int64_t row_divisor_ = 1;
};

}  // namespace calque::codegen
