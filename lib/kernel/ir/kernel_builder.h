#pragma once
// Builds one kernel. An instruction is inserted into the outermost open scope in which its operands are defined, and
// equal instructions are merged, so loop-invariant code is hoisted as it is emitted. All instructions are total (loads
// carry predicates where needed), so hoisting is always safe.
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

class Emitter {
 public:
  explicit Emitter(Kernel& kernel);
  ~Emitter();

  // ---- values
  Id constant(DType dtype, const Literal& value);
  Id index(int64_t value) { return constant(DType::i64, Literal::of<int64_t>(value)); }
  /// An elementwise basic primitive; folds integer index arithmetic.
  Id scalar(PrimitiveId primitive, DType dtype, std::span<const Id> operands, bool exact = false);
  Id scalar(PrimitiveId primitive, DType dtype, std::initializer_list<Id> operands) {
    return scalar(primitive, dtype, std::span<const Id>(operands.begin(), operands.size()));
  }
  /// buffer[index] under the current predicate. `pinned` loads are not hoisted: the kernel writes the buffer.
  Id load(int32_t buffer, Id index, bool pinned = false);
  /// buffer[index] = value under the current predicate, in the innermost scope.
  void store(int32_t buffer, Id index, Id value);

  // ---- index arithmetic on i64
  Id add(Id a, Id b);
  Id sub(Id a, Id b);
  Id mul(Id a, int64_t b);
  Id div(Id a, int64_t b);
  Id mod(Id a, int64_t b);
  /// An index times a step.
  struct Term {
    Id index = kNone;
    int64_t step = 0;
  };
  /// The sum of two terms as one term, when their indices are the quotient and the remainder of one index and the
  /// first's step is the second's times the divisor.
  std::optional<Term> combined(const Term& outer, const Term& inner) const;

  // ---- predicates
  /// Runs `f`; its loads and stores are also subject to `predicate`.
  template <class F>
  auto under(Id predicate, F&& f) {
    const Id saved = predicate_;
    predicate_ = conjunction(saved, predicate);
    struct Restore {
      Emitter& e;
      Id saved;
      ~Restore() { e.predicate_ = saved; }
    } restore{*this, saved};
    return f();
  }
  Id predicate() const { return predicate_; }

  // ---- regions
  /// Depth of the innermost scope; 0 is the kernel's body.
  int depth() const { return static_cast<int>(scopes_.size()) - 1; }
  /// Depth of the scope that defines a value; 0 for kNone.
  int depth_of(Id id) const { return id == kNone ? 0 : depths_[static_cast<size_t>(id)]; }

  using LoopBody = std::function<Ids(Id index, std::span<const Id> carries)>;
  /// Inserts a loop into the scope at `depth`. A parallel loop's body returns nothing. Returns the loop's results.
  Ids loop(LoopKind kind, int64_t extent, std::span<const Id> initial, std::span<const Combiner> combiners, int depth,
           const LoopBody& body);
  /// Adds a local buffer to the parallel loop whose body is being built in the innermost scope. Its loads must be
  /// pinned.
  int32_t local(DType dtype, int64_t extent);
  using RegionBody = std::function<Ids(std::span<const Id> carries)>;
  /// `cold`: the body is a cold path that runs at most once, so none of its instructions is hoisted out of the loop.
  Ids while_loop(std::span<const Id> initial, int depth, const RegionBody& condition, const RegionBody& body,
                 bool cold = false);
  Ids if_else(Id predicate, std::span<const DType> results, int depth, const RegionBody& then_body,
              const RegionBody& else_body);

  /// A contraction in the innermost scope: [rows, k] times [k, columns].
  struct Product {
    int64_t rows = 0, columns = 0, k = 0;
    DType factor, accumulator;
  };
  using Factor = std::function<Id(Id, Id)>;
  using Epilogue = std::function<void(Id m, Id n, Id accumulator)>;
  void contraction(const Product& product, const Factor& lhs, const Factor& rhs, const Epilogue& epilogue);

  // ---- memo of graph values, kept in the scope where they are valid
  struct MemoKey {
    uint64_t frame;
    uint32_t value;
    Id predicate;
    Ids index;
    friend bool operator==(const MemoKey&, const MemoKey&) = default;
  };
  Id find(const MemoKey& key) const;
  void remember(const MemoKey& key, Id id);

  DType dtype(Id id) const { return kernel_.values[static_cast<size_t>(id)]; }
  Kernel& kernel() { return kernel_; }
  /// Whether `id` is an i64 constant, whose value is then stored to `value`.
  bool is_constant(Id id, int64_t& value) const;

 private:
  struct Scope;
  struct Key;
  struct KeyHash;
  struct MemoHash;

  Id emit_pure(Instruction instruction, DType dtype);
  Id conjunction(Id a, Id b);
  std::unique_ptr<Scope> build_region(int depth, std::span<const DType> parameters, const RegionBody& body,
                                      Region& out);
  Id fresh(DType dtype, int depth);
  void range(Id id, int64_t low, int64_t high);

  Kernel& kernel_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<int> depths_;
  struct Range {
    int64_t low = INT64_MIN, high = INT64_MAX;
  };
  std::vector<Range> ranges_;
  /// How an index was divided: of / by, or of % by.
  struct Origin {
    Id of = kNone;
    int64_t by = 1;
    bool remainder = false;
  };
  std::unordered_map<Id, Origin> origins_;
  Id predicate_ = kNone;
  int least_depth_ = 0;  ///< lower bound of the scope depth to which instructions are hoisted
};

}  // namespace calque::kernel
