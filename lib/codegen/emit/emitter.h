#pragma once
// Emits one kernel into LLVM functions. Inside a vectorised loop every kernel value has one of three forms: uniform
// (an LLVM scalar), varying (a vector of lanes), or linear (lane l is v + l * stride with an LLVM scalar v: most index
// expressions). Code emitted under a mask runs only where at least one lane is active.
//
// The class is the core: values and their forms, regions, the control flow that they are emitted in. Parts use its
// public interface: those that it owns (ScalarInstructions, BufferAccess, RuntimeCalls, InterleavedStores,
// DeinterleavedLoads, NonTemporalStores), those that emit one loop or branch (LoopEmitter, ReductionEmitter,
// ScanEmitter, ColumnsEmitter), and the target's, a TargetEmitter.
#include <functional>
#include <unordered_map>
#include <utility>

#include "codegen/emit/buffer_access.h"
#include "codegen/emit/deinterleave.h"
#include "codegen/emit/interleave.h"
#include "codegen/emit/non_temporal.h"
#include "codegen/emit/reg.h"
#include "codegen/emit/runtime_calls.h"
#include "codegen/emit/scalar_instructions.h"
#include "codegen/emit/target_emitter.h"
#include "codegen/emit/vector_context.h"
#include "codegen/scalar/scalar_ops.h"
#include "kernel/ir/analysis.h"

namespace calque::codegen {

/// What a kernel is emitted for.
struct EmissionContext {
  llvm::Module& module;
  const TargetInfo& target;
  const CodegenOptions& options;
};

class KernelEmitter {
 public:
  /// `overlaps`, `workspace_offsets`: see BufferAccess.
  KernelEmitter(const EmissionContext& context, const kernel::Kernel& kernel, std::vector<bool> overlaps,
                std::vector<int64_t> workspace_offsets, TargetEmitter& target_emitter);
  KernelEmitter(const KernelEmitter&) = delete;
  KernelEmitter& operator=(const KernelEmitter&) = delete;

  using Region = kernel::Region;
  using Instruction = kernel::Instruction;
  using Id = kernel::Id;

  // ---- what is emitted, and for what
  llvm::Module& module() { return context_.module; }
  const kernel::Kernel& kernel() const { return kernel_; }
  const kernel::KernelAnalysis& analysis() const { return analysis_; }
  const TargetInfo& target() const { return context_.target; }
  const TargetEmitter& target_emitter() const { return target_emitter_; }
  const CodegenOptions& options() const { return context_.options; }
  [[noreturn]] void refuse(const std::string& what) const;

  // ---- parts
  llvm::IRBuilder<>& builder() { return b_; }
  ScalarOps& ops() { return ops_; }
  VectorContext& vectors() { return vectors_; }
  BufferAccess& buffers() { return buffers_; }
  RuntimeCalls& runtime() { return runtime_; }
  InterleavedStores& interleaved() { return interleaved_; }
  DeinterleavedLoads& deinterleaved() { return deinterleaved_; }
  NonTemporalStores& non_temporal() { return non_temporal_; }

  // ---- functions
  /// The constants with these results are loaded: from fields of a structure.
  struct LoadedConstants {
    llvm::Value* pointer = nullptr;
    llvm::StructType* type = nullptr;
    std::unordered_map<Id, unsigned> fields;
  };
  void load_constants(LoadedConstants constants) { loaded_constants_ = std::move(constants); }
  /// Starts `function`, into which code is emitted from now on.
  void begin_function(llvm::Function& function);
  /// Returns from the function.
  void end_function();
  /// While it lives, code is emitted into another function.
  class FunctionScope {
   public:
    FunctionScope(KernelEmitter& kernel, llvm::Function& function);
    ~FunctionScope();
    FunctionScope(const FunctionScope&) = delete;
    FunctionScope& operator=(const FunctionScope&) = delete;

   private:
    KernelEmitter& k_;
    llvm::Function* const outer_;
    const llvm::IRBuilderBase::InsertPoint outer_point_;
    const BufferAccess::FunctionScope locals_;
    const NonTemporalStores::FunctionScope fences_;
  };
  llvm::BasicBlock* block(const char* name);
  llvm::AllocaInst* local(llvm::Type* type);

  // ---- regions and values
  /// Emits all instructions but the yield, which it returns.
  const Instruction* run(const Region& region);
  void emit(const Instruction& i);
  const Reg& get(Id id) const { return env_[static_cast<size_t>(id)]; }
  void set(Id id, const Reg& r) { env_[static_cast<size_t>(id)] = r; }
  DType dtype(Id id) const { return kernel_.values[static_cast<size_t>(id)]; }

  // ---- forms
  Reg uniform(llvm::Value* v) const { return {v, Reg::Form::uniform}; }
  Reg varying(llvm::Value* v) const { return {v, Reg::Form::varying}; }
  /// Lane l is v + l.
  Reg linear(llvm::Value* v) const { return {v, Reg::Form::linear, false, true, 1}; }
  /// Varying if `v` is a vector, else uniform.
  Reg of(llvm::Value* v) const { return v->getType()->isVectorTy() ? varying(v) : uniform(v); }
  llvm::Value* splat(llvm::Value* v) { return b_.CreateVectorSplat(vectors_.lanes(), v); }
  /// The value varies between the lanes.
  bool is_vector(Id id) const { return vectors_.lanes() != 0 && analysis_.varying(id); }
  /// The lanes of a register (a 16-bit float in its current representation).
  llvm::Value* as_vector(const Reg& r);
  /// The lanes if `vector`, else the scalar; `vector` must be true unless the register is uniform.
  llvm::Value* as_value(const Reg& r, bool vector) { return vector ? as_vector(r) : r.v; }
  /// f16 and bf16: converted to f32, converted to bits, and rounded to the 16-bit dtype.
  Reg widened(const Reg& r, DType half);
  Reg bits(const Reg& r, DType half);
  Reg rounded(const Reg& r, DType half);
  /// The representation of loop carries of a dtype: one LLVM value of a fixed form. `vector`: as the analysis found.
  llvm::Value* to_carry(const Reg& r, DType d, bool vector);
  Reg from_carry(llvm::Value* v, DType d) const;
  /// `value` in the representation of the carry or result `of`.
  llvm::Value* carry(Id value, Id of) { return to_carry(get(value), dtype(of), is_vector(of)); }
  void set_carry(Id id, llvm::Value* v) { set(id, from_carry(v, dtype(id))); }

  // ---- index arithmetic
  llvm::Value* integer(int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); }
  /// Without overflow.
  llvm::Value* add(llvm::Value* a, llvm::Value* b) { return b_.CreateAdd(a, b, "", true, true); }
  llvm::Value* mul(llvm::Value* a, int64_t n) { return b_.CreateMul(a, integer(n), "", true, true); }
  llvm::Value* advance(llvm::Value* index, int64_t by) { return add(index, integer(by)); }
  llvm::Value* smaller(llvm::Value* a, llvm::Value* b) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }

  // ---- masks
  llvm::Value* and_mask(llvm::Value* a, llvm::Value* b) { return !a ? b : !b ? a : b_.CreateAnd(a, b); }
  llvm::Value* any(llvm::Value* mask) { return b_.CreateOrReduce(mask); }
  /// Lane l is active when l < count (clamped to the lanes).
  llvm::Value* first_lanes(llvm::Value* count);

  // ---- control flow
  /// for (i = begin; i < end; i += step) carries = body(i, carries), with at least one iteration. A single iteration is
  /// emitted without a loop.
  Values counted(llvm::Value* begin, llvm::Value* end, int64_t step, const Values& initial,
                 const std::function<Values(llvm::Value*, const Values&)>& body);
  /// Phis at the insertion point with `values` incoming from one block; add_incoming adds those of a second one.
  Values phis(const Values& values, llvm::BasicBlock* from);
  static void add_incoming(const Values& phis, const Values& values, llvm::BasicBlock* from);
  /// The values of `body` if any lane of `mask` is active, else `otherwise`. (In scalar code the mask is a bool.)
  Values where_any(llvm::Value* mask, const Values& otherwise, const std::function<Values()>& body);

 private:
  /// 0, 1, 2 ... times `stride` in the given integer type.
  llvm::Constant* iota(llvm::Type* element, int64_t stride) const;
  Reg constant(const Instruction& i);

  const EmissionContext context_;
  const kernel::Kernel& kernel_;
  const kernel::KernelAnalysis analysis_;
  TargetEmitter& target_emitter_;
  llvm::IRBuilder<> b_;
  ScalarOps ops_;
  llvm::Function* function_ = nullptr;  ///< being emitted: the kernel, or an outlined body that threads run
  std::vector<Reg> env_;
  VectorContext vectors_;
  ScalarInstructions scalars_{*this};
  BufferAccess buffers_;
  RuntimeCalls runtime_{*this};
  LoadedConstants loaded_constants_;
  InterleavedStores interleaved_{*this};
  DeinterleavedLoads deinterleaved_{*this};
  NonTemporalStores non_temporal_{*this};
};

}  // namespace calque::codegen
