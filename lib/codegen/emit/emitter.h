#pragma once
// From one kernel to one LLVM function. Inside a vectorised loop every kernel value is in one of three forms: uniform
// (an LLVM scalar), varying (a vector of `lanes_` elements), or linear (lane l is v + l * stride, v an LLVM scalar:
// most index expressions). Whatever is emitted under a mask is emitted where at least one lane is active.
#include <functional>
#include <map>

#include "codegen/emit/analysis.h"
#include "codegen/scalar/math_functions.h"
#include "codegen/scalar/scalar_ops.h"

namespace calque::codegen {

/// A kernel value in registers.
struct Reg {
  enum class Form : uint8_t { none, uniform, varying, linear };
  llvm::Value* v = nullptr;
  Form form = Form::none;
  bool wide = false;    ///< a 16-bit float held as f32
  bool rounded = true;  ///< what is wide is representable in 16 bits
  int64_t stride = 0;   ///< linear: the step from lane to lane
  bool uniform() const { return form == Form::uniform; }
};

using Values = llvm::SmallVector<llvm::Value*, 8>;

class KernelEmitter {
 public:
  /// `overlaps[i]`: memory of buffer i may be that of another buffer of the kernel, and one of them is written.
  /// `places[i]`: where buffer i is in the workspace, or less than 0; empty where no buffer is known by its place.
  KernelEmitter(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                const kernel::Kernel& kernel, std::vector<bool> overlaps, std::vector<int64_t> places);
  /// `void kernel(ptr context, ptr buffer...)`, or `void kernel(ptr context, ptr workspace, ptr buffer...)` with the
  /// buffers that are not known by their place.
  llvm::Function* emit();
  /// After emit: the kernel may return early, with the context's `failed` set.
  bool may_fail() const { return may_fail_; }
  virtual ~KernelEmitter() = default;
  KernelEmitter(const KernelEmitter&) = delete;
  KernelEmitter& operator=(const KernelEmitter&) = delete;

 protected:
  using Region = kernel::Region;
  using Instruction = kernel::Instruction;
  using Id = kernel::Id;

  // ---- kernel_emitter.cpp
  const Instruction* run(const Region& region);
  void emit(const Instruction& i);
  Reg constant(const Instruction& i);
  Reg scalar(const Instruction& i);
  Reg convert(const Instruction& i);
  Reg bitcast(const Instruction& i);
  Reg half_op(ScalarOp op, const Instruction& i);
  bool linear_op(ScalarOp op, const Instruction& i, Reg& out);
  bool index_division(ScalarOp op, const Instruction& i, Reg& out);
  [[noreturn]] void refuse(const std::string& what) const;

  // ---- math_calls.cpp
  bool is_function(const Instruction& i) const;
  Reg function(const Instruction& i);
  Reg nextafter_of_half(const Instruction& i);
  /// inverse_root.cpp: 1 / sqrt of `x`, the value of `id` in f32.
  llvm::Value* inverse_root(Id id, llvm::Value* x);

  // ---- forms
  const Reg& get(Id id) const { return env_[id]; }
  DType dtype(Id id) const { return kernel_.values[id]; }
  Reg uniform(llvm::Value* v) const { return {v, Reg::Form::uniform}; }
  Reg varying(llvm::Value* v) const { return {v, Reg::Form::varying}; }
  /// A value that is a vector is varying.
  Reg of(llvm::Value* v) const { return v->getType()->isVectorTy() ? varying(v) : uniform(v); }
  llvm::Value* splat(llvm::Value* v) { return b_.CreateVectorSplat(lanes_, v); }
  /// 0, 1, 2 ... times `stride` in the given integer type.
  llvm::Constant* iota(llvm::Type* element, int64_t stride) const;
  /// The lanes of a register (16-bit floats as they are held).
  llvm::Value* as_vector(const Reg& r);
  /// In the form in which `like` is: a scalar stays one only when it is uniform and `vector` false.
  llvm::Value* as_value(const Reg& r, bool vector) { return vector ? as_vector(r) : r.v; }
  /// f16 and bf16: to f32, and to bits.
  Reg widened(const Reg& r, DType half);
  Reg bits(const Reg& r, DType half);
  Reg rounded(const Reg& r, DType half);
  /// How carries of a dtype are held: one LLVM value, fixed in form. `vector` as the analysis says.
  llvm::Value* to_carry(const Reg& r, DType d, bool vector);
  Reg from_carry(llvm::Value* v, DType d) const;
  bool is_vector(Id id) const { return lanes_ != 0 && analysis_.varying(id); }

  // ---- masks
  llvm::Value* all_lanes() { return llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_)); }
  llvm::Value* mask_or_all() { return mask_ ? mask_ : all_lanes(); }
  llvm::Value* and_mask(llvm::Value* a, llvm::Value* b) { return !a ? b : !b ? a : b_.CreateAnd(a, b); }
  llvm::Value* any(llvm::Value* mask) { return b_.CreateOrReduce(mask); }
  /// Lane l is active when l < count (clamped to the lanes).
  llvm::Value* first_lanes(llvm::Value* count);

  // ---- load_store.cpp
  virtual Reg load(const Instruction& i);
  virtual void store(const Instruction& i);
  void combine(const Instruction& i);
  llvm::Value* address(int32_t buffer, llvm::Value* index);
  void take_workspace(unsigned argument);
  void note_reads(llvm::Function& first);
  llvm::Value* load_lanes(int32_t buffer, const Reg& index, llvm::Value* mask);
  void store_lanes(int32_t buffer, const Reg& index, llvm::Value* value, llvm::Value* mask);
  llvm::Value* gather(int32_t buffer, llvm::Value* index, llvm::Value* mask);
  void scatter(int32_t buffer, llvm::Value* index, llvm::Value* value, llvm::Value* mask);
  llvm::Value* reverse(llvm::Value* v);
  llvm::Value* zeros();
  llvm::Value* sink();
  llvm::Type* element(int32_t buffer) { return ops_.memory_type(kernel_.buffers[buffer].dtype); }
  llvm::Align alignment(int32_t buffer) const;

  // ---- non_temporal.cpp
  void find_streams();
  void find_streams(const Region& region, double times, bool again, std::vector<double>& written) const;
  bool streams_in(const Instruction& loop) const;
  std::pair<llvm::Value*, llvm::Value*> align(llvm::Value* begin, const std::function<void(llvm::Value*)>& iteration);
  llvm::Value* stream(llvm::Value* begin, llvm::Value* end, int64_t step,
                      const std::function<void(llvm::Value*)>& iteration,
                      const std::function<llvm::Value*(llvm::Value*)>& whole);
  bool streamed(int32_t buffer, llvm::Value* value, llvm::Value* address);
  void order_streams();

  // ---- interleave.cpp
  struct WaitingStore {
    int32_t buffer;
    Reg index;
    llvm::Value* value;
  };
  bool may_wait(const Instruction& i, const Reg& index) const;
  void store_waiting(int32_t buffer);
  void store_row(const std::map<int64_t, WaitingStore>& row);
  void store_run(llvm::ArrayRef<WaitingStore> run);
  void store_rows(llvm::ArrayRef<WaitingStore> columns, unsigned width);

  // ---- loops.cpp
  virtual void loop(const Instruction& i);
  void parallel(const Instruction& i);
  void split(const Instruction& i);
  void iterate(const Instruction& i, llvm::Value* begin, llvm::Value* end);
  void sequential(const Instruction& i);
  void vectorised(const Instruction& i, llvm::Value* begin, llvm::Value* end);
  void while_loop(const Instruction& i);
  unsigned choose_lanes(const Instruction& i) const;
  /// for (i = begin; i < end; i += step) carries = body(i, carries); at least one iteration. One is emitted straight.
  Values counted(llvm::Value* begin, llvm::Value* end, int64_t step, const Values& initial,
                 const std::function<Values(llvm::Value*, const Values&)>& body);
  /// Phis at the insertion point that come in as `values` from one block, and as others from a second.
  Values phis(const Values& values, llvm::BasicBlock* from);
  static void join(const Values& phis, const Values& values, llvm::BasicBlock* from);
  llvm::BasicBlock* block(const char* name);
  llvm::AllocaInst* local(llvm::Type* type);

  // ---- branches.cpp
  void branch(const Instruction& i);
  void branch_lanes(const Instruction& i);
  Values where_any(llvm::Value* mask, const Values& otherwise, const std::function<Values()>& body);

  // ---- runtime_calls.cpp
  /// Emits `body(begin, end)` as a function of its own that several threads run on pieces of [0, count): pieces begin
  /// at multiples of `grain` and end at one, or at `count`; the runtime chooses them (see RuntimeTable). The body may
  /// use every value that is defined at the insertion point, vectors and masks too; what it defines ends with it.
  void parallel_for(int64_t count, int64_t grain,
                    const std::function<void(llvm::Value* begin, llvm::Value* end)>& body);
  /// 64-byte aligned memory of the running thread, valid as RuntimeTable::scratch says.
  llvm::Value* scratch(int64_t bytes);
  llvm::Value* num_threads();
  /// Ends the kernel, or the part of it that a thread runs, where the condition holds.
  void leave_if(llvm::Value* condition);

  // ---- reduction.cpp
  void reduction(const Instruction& i);
  bool rounds(const Instruction& i) const;
  void sequential_reduction(const Instruction& i);
  /// How the terms of a reduction are grouped: see reduction.cpp.
  struct Blocks {
    int64_t step = 1;     ///< terms in a unit
    int64_t grouped = 0;  ///< terms that are in blocks; the rest follows
    int64_t extent = 1, count = 0, in_piece = 1, pieces = 1;
    bool repeat = false;  ///< the body is repeated for each accumulator
  };
  void blocked_reduction(const Instruction& i, unsigned step);
  Blocks blocks_of(const Instruction& i, unsigned step) const;
  Values sum_block(const Instruction& i, const Blocks& blocks, llvm::Value* begin, llvm::Value* end);
  Values sum_blocks(const Instruction& i, const Blocks& blocks, llvm::Value* first, llvm::Value* count, int64_t most);
  Values sum_pieces(const Instruction& i, const Blocks& blocks);
  Values pairwise(const Instruction& i, const Blocks& blocks, llvm::Value* count, int64_t most,
                  const std::function<Values(llvm::Value*)>& part);
  Values sum_rest(const Instruction& i, const Blocks& blocks);
  void finish(const Instruction& i, Values total);
  /// Where result r of the sum of 2^level parts waits.
  using Slot = std::function<llvm::Value*(size_t r, llvm::Value* level)>;
  Values waiting(const Values& types, llvm::Value* level, const Slot& slot);
  void carry_up(const Instruction& i, llvm::Value* number, const Values& part, const Slot& slot);
  Values fold_levels(const Instruction& i, int64_t count, const Values& types, const Slot& slot);

  // ---- columns.cpp
  void columns(const Instruction& loop, const std::vector<const Instruction*>& sums, llvm::Value* begin,
               llvm::Value* end);

  Values contributions(const Instruction& i, llvm::Value* index, bool vectorised);
  virtual Values identities(const Instruction& i, bool vectorised);
  Values combine(const Instruction& i, const Values& a, const Values& b);
  llvm::Value* combine_one(kernel::Combiner c, DType d, llvm::Value* a, llvm::Value* b);
  Values fold_lanes(const Instruction& i, Values v);
  Values masked(const Instruction& i, const Values& v, llvm::Value* mask);

  // ---- emit_contraction.cpp
  friend class ContractionEmitter;
  virtual void contraction(const Instruction& i);

  // ---- scan.cpp
  /// A cumulative loop: which carry each instruction of its body makes (-1: none), and which instructions need carries
  /// or have effects.
  struct Scan {
    const Instruction& loop;
    std::vector<int> carry;
    std::vector<bool> late;
  };
  void scan(const Instruction& i, unsigned lanes);
  Scan scan_of(const Instruction& i) const;
  llvm::Value* nothing(const Instruction& i, size_t carry);
  llvm::Value* prefixes(const Instruction& i, size_t carry, llvm::Value* v);
  Values scan_vector(const Scan& scan, llvm::Value* index, const Values& before, const Values& offsets, bool whole);
  Values scan_block(const Scan& scan, llvm::Value* begin, llvm::Value* end, const Values& offsets, bool whole);
  Values scan_chunks(const Scan& scan, int64_t full, const Values& initial);
  Values join_all(const Instruction& i, const Values& a, const Values& b);

  llvm::Module& module_;
  const TargetInfo& target_;
  const CodegenOptions& options_;
  const kernel::Kernel& kernel_;
  std::vector<bool> overlaps_;
  std::vector<int64_t> places_;
  Analysis analysis_;
  llvm::IRBuilder<> b_;
  ScalarOps ops_;
  MathFunctions functions_;
  llvm::Function* function_ = nullptr;  ///< the one being emitted: the kernel, or a part that threads run
  llvm::Value* context_ = nullptr;
  llvm::Value* workspace_ = nullptr;
  std::vector<llvm::Value*> buffers_;  ///< null: known by its place
  /// Loops of which a part runs: its first iteration, and the one past its last (null: that one alone).
  std::unordered_map<const Instruction*, std::pair<llvm::Value*, llvm::Value*>> parts_;
  std::vector<Reg> env_;
  std::vector<WaitingStore> waiting_stores_;  ///< of the region being emitted
  std::vector<bool> streamed_;                ///< buffers that stores may write past the caches
  /// Whether vectors are stored so: not, not but the loop asks where they go, or yes, all being aligned.
  enum class Streaming : uint8_t { none, asked, yes } streaming_ = Streaming::none;
  std::vector<std::pair<llvm::Value*, uint64_t>> stream_starts_;  ///< addresses, and sizes of elements
  bool streamed_here_ = false;                                    ///< the function being emitted has such stores
  unsigned lanes_ = 0;                                            ///< 0 outside vectorised loops
  llvm::Value* mask_ = nullptr;                                   ///< active lanes; null: all
  llvm::Value* zeros_ = nullptr;
  llvm::Value* sink_ = nullptr;
  bool may_fail_ = false;
};

/// runtime_calls.cpp: a function of the runtime table, and whether the call is to end.
llvm::Value* runtime_function(llvm::IRBuilder<>& b, llvm::Value* context, size_t offset);
llvm::Value* has_failed(llvm::IRBuilder<>& b, llvm::Value* context);
/// Memory of the running thread, from a function of the runtime table that gives it (its offset there). May be null.
llvm::Value* thread_memory(llvm::IRBuilder<>& b, llvm::Value* context, size_t function, int64_t bytes);
/// Several threads run `draft(begin, end)` on pieces of [0, count), as RuntimeTable::parallel_for says. The draft may
/// use every value that is defined at the insertion point, vectors too. Returns the function that it becomes.
llvm::Function* call_parallel_for(llvm::IRBuilder<>& b, const TargetInfo& target, const CodegenOptions& options,
                                  llvm::Value* context, int64_t count, int64_t grain, llvm::Function* draft);
/// Emits `call`, which leaves generated code: it runs in the floating-point mode of the entry's caller.
void in_callers_mode(llvm::IRBuilder<>& b, const TargetInfo& target, const CodegenOptions& options,
                     llvm::Value* context, const std::function<void()>& call);

/// entry.cpp: the program's entry function `calque_entry` and, before it, its kernels; or, where CodegenOptions ask for
/// one and it is possible, its scalar entry, into which all kernels are to be inlined.
void emit_program(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                  const kernel::Program& program);
inline constexpr const char* kEntryName = "calque_entry";
inline constexpr const char* kScalarEntryName = "calque_scalar";

}  // namespace calque::codegen
