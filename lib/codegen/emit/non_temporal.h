#pragma once
// Stores that bypass the caches.
#include <functional>
#include <utility>
#include <vector>

#include "codegen/emit/reg.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class KernelEmitter;

class NonTemporalStores {
 public:
  explicit NonTemporalStores(KernelEmitter& kernel) : k_(kernel) {}
  using Iteration = std::function<void(llvm::Value*)>;
  /// Emits two versions of the loop `whole(first)`, which runs from `first` on and returns where it stopped: with
  /// non-temporal stores if their vectors can be aligned, else with ordinary ones.
  llvm::Value* loop(llvm::Value* begin, llvm::Value* end, int64_t step, const Iteration& iteration,
                    const std::function<llvm::Value*(llvm::Value*)>& whole);
  /// Emits the store of a whole vector if it is to be non-temporal, or records its address; returns false otherwise.
  bool store(const kernel::Instruction& store, llvm::Value* value, llvm::Value* address);
  /// Whether whole lines that are stored to the buffer one by one, in any order, bypass the caches: it is larger than
  /// those, and the kernel writes it once and does not read it. A line that an ordinary store brings into the caches is
  /// read first, and those of rows far apart are not prefetched.
  bool takes_lines(int32_t buffer);
  /// Bytes of a line.
  static constexpr uint64_t kLine = 64;
  /// Emits a store of one line at an address that is aligned to it.
  void store_line(llvm::Value* value, llvm::Value* address);
  /// Emitted before the function returns to code that may wait for it: x86 orders non-temporal stores only by a fence.
  void emit_fence();

  /// While it lives, the code is that of another function, which has fences of its own.
  class FunctionScope {
   public:
    explicit FunctionScope(NonTemporalStores& stores)
        : stores_(stores), outer_(std::exchange(stores.needs_fence_, false)) {}
    ~FunctionScope() { stores_.needs_fence_ = outer_; }
    FunctionScope(const FunctionScope&) = delete;
    FunctionScope& operator=(const FunctionScope&) = delete;

   private:
    NonTemporalStores& stores_;
    bool outer_;
  };

 private:
  /// Vectors of non-temporal stores are stored as usual; not stored, but their addresses recorded; or, all being
  /// aligned, stored non-temporally.
  enum class Mode : uint8_t { off, record_addresses, on };
  class ModeScope;
  std::pair<llvm::Value*, llvm::Value*> peel_until_aligned(llvm::Value* begin, const Iteration& iteration);

  /// Marks a store, which the fence will order.
  void bypass(llvm::StoreInst* store);

  KernelEmitter& k_;
  Mode mode_ = Mode::off;
  std::vector<std::pair<llvm::Value*, uint64_t>> addresses_;  ///< recorded ones, and sizes of elements
  std::vector<double> written_;                               ///< by buffer: kernel::elements_written, when needed
  bool needs_fence_ = false;                                  ///< the function being emitted has such stores
};

}  // namespace calque::codegen
