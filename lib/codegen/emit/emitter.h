#pragma once
// Emits one kernel as one LLVM function. Inside a vectorised loop every kernel value has one of three forms: uniform
// (an LLVM scalar), varying (a vector of lanes), or linear (lane l is v + l * stride with an LLVM scalar v: most index
// expressions). Code emitted under a mask runs only where at least one lane is active.
//
// The class is the core: registers, forms, regions, loops, memory. Parts that own their state use it through its public
// interface: ContractionEmitter, InterleavedStores, NonTemporalStores.
#include <functional>

#include "codegen/emit/interleave.h"
#include "codegen/emit/non_temporal.h"
#include "codegen/emit/reg.h"
#include "codegen/emit/vector_context.h"
#include "codegen/scalar/math_functions.h"
#include "codegen/scalar/scalar_ops.h"
#include "kernel/ir/analysis.h"

namespace calque::codegen {

class KernelEmitter {
 public:
  /// `overlaps[i]`: buffer i may overlap another buffer of the kernel, and one of the two is written.
  /// `workspace_offsets[i]`: the offset of buffer i in the workspace, or a negative number when it is passed as a
  /// pointer; empty when every buffer is passed as a pointer.
  KernelEmitter(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                const kernel::Kernel& kernel, std::vector<bool> overlaps, std::vector<int64_t> workspace_offsets);
  /// `void kernel(ptr context, ptr buffer...)`, or `void kernel(ptr context, ptr workspace, ptr buffer...)` with only
  /// the buffers that have no workspace offset.
  llvm::Function* emit();
  /// Valid after emit: the kernel may return early, with the context's `failed` set.
  bool may_fail() const { return may_fail_; }
  virtual ~KernelEmitter() = default;
  KernelEmitter(const KernelEmitter&) = delete;
  KernelEmitter& operator=(const KernelEmitter&) = delete;

  using Region = kernel::Region;
  using Instruction = kernel::Instruction;
  using Id = kernel::Id;

  // ---- what is emitted, and for what
  const kernel::Kernel& kernel() const { return kernel_; }
  const kernel::KernelAnalysis& analysis() const { return analysis_; }
  const TargetInfo& target() const { return target_; }
  const CodegenOptions& options() const { return options_; }
  /// The buffer may overlap another one of the kernel, and one of the two is written.
  bool overlaps(int32_t buffer) const { return overlaps_[static_cast<size_t>(buffer)]; }
  llvm::IRBuilder<>& builder() { return b_; }
  ScalarOps& ops() { return ops_; }
  VectorContext& vectors() { return vectors_; }
  [[noreturn]] void refuse(const std::string& what) const;

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
  /// The lanes of a register (a 16-bit float in its current representation).
  llvm::Value* as_vector(const Reg& r);
  /// The lanes if `vector`, else the scalar; `vector` must be true unless the register is uniform.
  llvm::Value* as_value(const Reg& r, bool vector) { return vector ? as_vector(r) : r.v; }
  /// f16 and bf16: converted to f32, converted to bits, and rounded to the 16-bit dtype.
  Reg widened(const Reg& r, DType half);
  Reg bits(const Reg& r, DType half);
  Reg rounded(const Reg& r, DType half);

  // ---- masks
  llvm::Value* and_mask(llvm::Value* a, llvm::Value* b) { return !a ? b : !b ? a : b_.CreateAnd(a, b); }
  llvm::Value* any(llvm::Value* mask) { return b_.CreateOrReduce(mask); }
  /// Lane l is active when l < count (clamped to the lanes).
  llvm::Value* first_lanes(llvm::Value* count);

  // ---- memory
  llvm::Value* address(int32_t buffer, llvm::Value* index);
  void scatter(int32_t buffer, llvm::Value* index, llvm::Value* value, llvm::Value* mask);
  llvm::Type* element(int32_t buffer) { return ops_.memory_type(kernel_.buffers[buffer].dtype); }
  llvm::Align alignment(int32_t buffer) const;

  // ---- control flow
  /// for (i = begin; i < end; i += step) carries = body(i, carries), with at least one iteration. A single iteration is
  /// emitted without a loop.
  Values counted(llvm::Value* begin, llvm::Value* end, int64_t step, const Values& initial,
                 const std::function<Values(llvm::Value*, const Values&)>& body);
  /// Phis at the insertion point with `values` incoming from one block; add_incoming adds those of a second one.
  Values phis(const Values& values, llvm::BasicBlock* from);
  static void add_incoming(const Values& phis, const Values& values, llvm::BasicBlock* from);
  llvm::BasicBlock* block(const char* name);
  llvm::AllocaInst* local(llvm::Type* type);
  Values where_any(llvm::Value* mask, const Values& otherwise, const std::function<Values()>& body);

  // ---- runtime
  /// Emits `body(begin, end)` as a separate function that several threads run on chunks of [0, count). The runtime
  /// chooses the chunks (see RuntimeTable): each begins at a multiple of `grain` and ends at one, or at `count`. The
  /// body may use every value that is defined at the insertion point, including vectors and masks; values that it
  /// defines are local to it.
  void parallel_for(int64_t count, int64_t grain,
                    const std::function<void(llvm::Value* begin, llvm::Value* end)>& body);
  /// 64-byte aligned memory of the running thread; RuntimeTable::scratch documents its lifetime.
  llvm::Value* scratch(int64_t bytes);

 protected:
  // ---- kernel_emitter.cpp
  Reg constant(const Instruction& i);
  Reg scalar(const Instruction& i);
  Reg convert(const Instruction& i);
  Reg bitcast(const Instruction& i);
  /// The scalar operation of the instruction on values of dtype `d`.
  llvm::Value* emit(const Instruction& i, ScalarOp op, DType d, llvm::ArrayRef<llvm::Value*> v);
  Reg half_op(ScalarOp op, const Instruction& i);
  bool linear_op(ScalarOp op, const Instruction& i, Reg& out);
  bool index_division(ScalarOp op, const Instruction& i, Reg& out);

  // ---- math_calls.cpp
  bool is_function(const Instruction& i) const;
  Reg function(const Instruction& i);
  Reg nextafter_of_half(const Instruction& i);
  /// inverse_root.cpp: 1 / sqrt of `x`, the value of `id` in f32.
  llvm::Value* inverse_root(Id id, llvm::Value* x);

  llvm::Value* splat(llvm::Value* v) { return b_.CreateVectorSplat(vectors_.lanes(), v); }
  /// 0, 1, 2 ... times `stride` in the given integer type.
  llvm::Constant* iota(llvm::Type* element, int64_t stride) const;
  /// The representation of loop carries of a dtype: one LLVM value of a fixed form. `vector`: as the analysis found.
  llvm::Value* to_carry(const Reg& r, DType d, bool vector);
  Reg from_carry(llvm::Value* v, DType d) const;
  bool is_vector(Id id) const { return vectors_.lanes() != 0 && analysis_.varying(id); }

  // ---- masks
  llvm::Value* all_lanes() {
    return llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), vectors_.lanes()));
  }
  llvm::Value* mask_or_all() { return vectors_.mask() ? vectors_.mask() : all_lanes(); }

  // ---- load_store.cpp
  virtual Reg load(const Instruction& i);
  virtual void store(const Instruction& i);
  void combine(const Instruction& i);
  void bind_workspace(unsigned argument);
  void mark_read_only_accesses(llvm::Function& first);
  llvm::Value* load_lanes(int32_t buffer, const Reg& index, llvm::Value* mask);
  void store_lanes(const Instruction& store, const Reg& index, llvm::Value* value, llvm::Value* mask);
  llvm::Value* gather(int32_t buffer, llvm::Value* index, llvm::Value* mask);
  llvm::Value* reverse(llvm::Value* v);
  llvm::Value* zeros();
  llvm::Value* sink();

  // ---- loops.cpp
  virtual void loop(const Instruction& i);
  void parallel(const Instruction& i);
  void split_across_threads(const Instruction& i);
  void iterate(const Instruction& i, llvm::Value* begin, llvm::Value* end);
  void sequential(const Instruction& i);
  void vectorised(const Instruction& i, llvm::Value* begin, llvm::Value* end);
  void while_loop(const Instruction& i);

  // ---- branches.cpp
  void branch(const Instruction& i);
  void branch_lanes(const Instruction& i);

  // ---- runtime_calls.cpp
  llvm::Value* num_threads();
  /// Returns from the kernel, or from the outlined body that a thread runs, if the condition holds.
  void leave_if(llvm::Value* condition);

  // ---- reduction.cpp
  void reduction(const Instruction& i);
  void sequential_reduction(const Instruction& i);
  /// The blocks of a reduction, see reduction.cpp.
  struct Blocks {
    int64_t step = 1;     ///< terms per unit
    int64_t blocked = 0;  ///< terms that belong to blocks; the remainder follows them
    int64_t extent = 1, count = 0, blocks_per_chunk = 1, chunks = 1;
    bool repeat = false;  ///< the body is emitted once for each accumulator
  };
  void blocked_reduction(const Instruction& i, unsigned step);
  Blocks blocks_of(const Instruction& i, unsigned step) const;
  Values sum_block(const Instruction& i, const Blocks& blocks, llvm::Value* begin, llvm::Value* end);
  Values sum_blocks(const Instruction& i, const Blocks& blocks, llvm::Value* first, llvm::Value* count, int64_t most);
  Values sum_chunks(const Instruction& i, const Blocks& blocks);
  Values pairwise(const Instruction& i, const Blocks& blocks, llvm::Value* count, int64_t most,
                  const std::function<Values(llvm::Value*)>& partial);
  Values sum_remainder(const Instruction& i, const Blocks& blocks);
  void finish(const Instruction& i, Values total);
  /// The address of result r of the pending partial sum of 2^level blocks.
  using Slot = std::function<llvm::Value*(size_t r, llvm::Value* level)>;
  Values load_partials(const Values& types, llvm::Value* level, const Slot& slot);
  void add_partial(const Instruction& i, llvm::Value* number, const Values& partial, const Slot& slot);
  Values fold_levels(const Instruction& i, int64_t count, const Values& types, const Slot& slot);

  // ---- columns.cpp
  void columns(const Instruction& loop, llvm::Value* begin, llvm::Value* end);

  Values contributions(const Instruction& i, llvm::Value* index, bool vectorised);
  virtual Values identities(const Instruction& i, bool vectorised);
  Values combine(const Instruction& i, const Values& a, const Values& b);
  llvm::Value* combine_one(kernel::Combiner c, DType d, llvm::Value* a, llvm::Value* b);
  Values fold_lanes(const Instruction& i, Values v);
  Values masked(const Instruction& i, const Values& v, llvm::Value* mask);

  // ---- emit_contraction.cpp
  virtual void contraction(const Instruction& i);

  // ---- scan.cpp
  /// A cumulative loop: for each instruction of its body the carry that it computes (-1: none), and whether it uses
  /// carries or has effects.
  struct Scan {
    const Instruction& loop;
    std::vector<int> carry;
    std::vector<bool> needs_carry;
  };
  void scan(const Instruction& i, unsigned lanes);
  Scan scan_of(const Instruction& i) const;
  llvm::Value* carry_identity(const Instruction& i, size_t carry);
  llvm::Value* prefixes(const Instruction& i, size_t carry, llvm::Value* v);
  Values scan_vector(const Scan& scan, llvm::Value* index, const Values& before, const Values& offsets, bool whole);
  Values scan_block(const Scan& scan, llvm::Value* begin, llvm::Value* end, const Values& offsets, bool whole);
  Values scan_chunks(const Scan& scan, int64_t full, const Values& initial);
  Values combine_carries(const Instruction& i, const Values& a, const Values& b);

  llvm::Module& module_;
  const TargetInfo& target_;
  const CodegenOptions& options_;
  const kernel::Kernel& kernel_;
  std::vector<bool> overlaps_;
  std::vector<int64_t> workspace_offsets_;
  kernel::KernelAnalysis analysis_;
  llvm::IRBuilder<> b_;
  ScalarOps ops_;
  MathFunctions functions_;
  llvm::Function* function_ = nullptr;  ///< being emitted: the kernel, or an outlined body that threads run
  llvm::Value* context_ = nullptr;
  llvm::Value* workspace_ = nullptr;
  std::vector<llvm::Value*> buffers_;  ///< null: at its workspace offset
  /// Loops that run a subrange of their iterations: the first one, and one past the last (null: a single iteration).
  std::unordered_map<const Instruction*, std::pair<llvm::Value*, llvm::Value*>> subranges_;
  std::vector<Reg> env_;
  VectorContext vectors_;
  InterleavedStores interleaved_{*this};
  NonTemporalStores non_temporal_{*this};
  llvm::Value* zeros_ = nullptr;
  llvm::Value* sink_ = nullptr;
  bool may_fail_ = false;
};

/// runtime_calls.cpp: loads a function of the runtime table; tests whether the call has failed and must end.
llvm::Value* runtime_function(llvm::IRBuilder<>& b, llvm::Value* context, size_t offset);
llvm::Value* has_failed(llvm::IRBuilder<>& b, llvm::Value* context);
/// Memory of the running thread from the allocation function at offset `function` of the runtime table. May be null.
llvm::Value* thread_memory(llvm::IRBuilder<>& b, llvm::Value* context, size_t function, int64_t bytes);
/// Several threads run `body(begin, end)` on chunks of [0, count), see RuntimeTable::parallel_for. The body may use
/// every value that is defined at the insertion point, including vectors. Replaces it by a function that receives these
/// values as arguments, and returns that one.
llvm::Function* call_parallel_for(llvm::IRBuilder<>& b, const TargetInfo& target, const CodegenOptions& options,
                                  llvm::Value* context, int64_t count, int64_t grain, llvm::Function* body);
/// Emits `call`, a call to code that is not generated: it runs in the floating-point mode of the entry's caller.
void in_callers_mode(llvm::IRBuilder<>& b, const TargetInfo& target, const CodegenOptions& options,
                     llvm::Value* context, const std::function<void()>& call);

/// entry.cpp: emits the program's kernels and its entry function `calque_entry`; or, if CodegenOptions request a scalar
/// entry and the program allows one, that entry, into which all kernels are marked to be inlined.
void emit_program(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                  const kernel::Program& program);
inline constexpr const char* kEntryName = "calque_entry";
inline constexpr const char* kScalarEntryName = "calque_scalar";

}  // namespace calque::codegen
