#pragma once
// Stores whose lanes are a few elements apart, which are deferred so that several of them fill rows of memory together.
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "codegen/emit/reg.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class KernelEmitter;

struct PendingStore {
  int32_t buffer;
  Reg index;
  llvm::Value* value;
};

class InterleavedStores {
 public:
  explicit InterleavedStores(KernelEmitter& kernel) : k_(kernel) {}
  /// Whether a store may be deferred: it happens in every lane, and nothing else in the kernel reads or may overlap the
  /// buffer.
  bool can_defer(const kernel::Instruction& store, const Reg& index) const;
  void defer(int32_t buffer, const Reg& index, llvm::Value* value) { pending_.push_back({buffer, index, value}); }
  /// Emits the pending stores of one buffer.
  void flush(int32_t buffer);
  void flush_all();

  /// While it lives, the pending stores are those of a nested region.
  class RegionScope {
   public:
    explicit RegionScope(InterleavedStores& stores) : stores_(stores) { std::swap(outer_, stores.pending_); }
    ~RegionScope() { std::swap(outer_, stores_.pending_); }
    RegionScope(const RegionScope&) = delete;
    RegionScope& operator=(const RegionScope&) = delete;

   private:
    InterleavedStores& stores_;
    std::vector<PendingStore> outer_;
  };

 private:
  void emit(std::vector<PendingStore> stores);
  void store_row(const std::map<int64_t, PendingStore>& row);
  void store_run(llvm::ArrayRef<PendingStore> run);
  void store_rows(llvm::ArrayRef<PendingStore> columns, unsigned width);
  /// Stores lines to rows of a large buffer, past the caches if the first row, and so each, is aligned.
  void store_lines(llvm::ArrayRef<llvm::Value*> lines, const std::function<llvm::Value*(unsigned)>& address,
                   llvm::Align alignment);

  KernelEmitter& k_;
  std::vector<PendingStore> pending_;
};

}  // namespace calque::codegen
