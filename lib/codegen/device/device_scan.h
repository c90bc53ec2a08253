#pragma once
// Cumulative loops in device code.
#include <vector>

#include "codegen/loops/scan.h"

namespace calque::codegen {

class DeviceMemory;
class ThreadGroup;

/// A cumulative loop that the threads of a group run together.
class GroupScan {
 public:
  GroupScan(KernelEmitter& kernel, ThreadGroup& group, DeviceMemory& memory, const kernel::Instruction& i);
  void emit();

 private:
  /// Iterations that the group runs between two barriers: of each thread `vectors` vectors of `lanes` iterations. Only
  /// the first `count` vectors of the tile exist.
  struct Tile {
    unsigned lanes = 1;
    int64_t vectors = 1, count = 0;
  };
  /// A vector of the running thread.
  struct Vector {
    llvm::Value* exists = nullptr;  ///< null: in every thread
    std::vector<Reg> registers;     ///< of the loop's index and the results of early instructions
    std::vector<Values> prefixes;   ///< by lane: the combination of the contributions up to it
    Values total;                   ///< of the vector, then of all vectors of the warp up to it
  };

  /// Divides the body into instructions that run before the carries are known and those that run after.
  void find_early();
  /// The lanes of vectors that suit the body's accesses.
  unsigned choose_lanes() const;
  /// Iterations of a thread that a tile has registers for.
  int64_t iterations_of_thread() const;
  /// The carries after a tile whose first iteration is `first`. `slot`: 0 or 1, not that of the tile before.
  Values tile(const Tile& t, llvm::Value* first, llvm::Value* slot, const Values& carries);
  Vector contribute(const Tile& t, llvm::Value* index, llvm::Value* exists);
  /// Runs the late instructions of a vector, with what precedes it as carries.
  void finish(const Tile& t, const Vector& vector, const Values& before);
  /// Inclusive scans of several values: lane l gets the combination of lanes 0 to l, of the first `lanes` ones.
  void scan_warp(std::vector<Values*> values, uint32_t lanes = 32);
  /// The combination of the previous warps of the tile, and of all, from the total of each warp.
  struct Warps {
    Values before, total;
  };
  Warps combine_warps(const Values& total, llvm::Value* slot);
  Values select(llvm::Value* condition, const Values& a, const Values& b);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  ThreadGroup& group_;
  DeviceMemory& memory_;
  const kernel::Instruction& i_;
  const Accumulators accumulators_;
  const CumulativeBody body_;
  const Values identities_;
  std::vector<kernel::Id> contributed_;  ///< by carry: the value that an iteration contributes
  std::vector<bool> early_;              ///< by instruction of the body
  std::vector<kernel::Id> kept_;         ///< the loop's index and the results of early instructions
  Values slots_;                         ///< by carry: shared memory of two values of each warp
};

}  // namespace calque::codegen
