#pragma once
// The kernel IR: a tree of structured regions over scalar instructions. It knows loops, loads, stores and scalar
// arithmetic; a schedule adds vectors, threads, tiles and the like as attributes, which code generation only reads.
// Definitions precede uses; a nested region may use every value that its enclosing regions have defined.
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calque/ir/graph.h"
#include "calque/ir/inline_vector.h"

#include "kernel/ir/tiles.h"
#include "primitives/core/code_generation.h"

namespace calque::kernel {

/// An SSA value of one kernel: an index into Kernel::values.
using Id = int32_t;
using Ids = detail::InlineVector<Id, 3>;
inline constexpr Id kNone = -1;

enum class Op : uint8_t {
  constant,     ///< results[0] = `literal` of the result's dtype
  scalar,       ///< results[0] = `primitive`(operands): an elementwise basic primitive, semantics.md's corner cases
                ///< included. Operand dtypes as its typing rule; attributes (convert, bitcast) follow from the result's
                ///< dtype
  load,         ///< results[0] = buffers[buffer][operands[0]] (index in elements, i64); operands[1], if present, is a
                ///< bool predicate: where it is false nothing is read and the result is zero
  store,        ///< buffers[buffer][operands[0]] = operands[1]; operands[2], if present, is a bool predicate. With a
                ///< combiner (GPU only) the element is combined with operands[1] in one atomic operation
  loop,         ///< see LoopKind
  while_,       ///< operands: initial carries. regions[0](carries) yields one bool; regions[1](carries) yields the next
                ///< carries. results: final carries. In a vectorised loop every lane has its own trip count: finished
                ///< lanes keep their carries and neither load, store nor divide
  if_,          ///< operands[0]: bool. regions[0] (then) and regions[1] (else), without parameters, yield the results.
                ///< In a vectorised loop a region runs if some lane needs it, under that mask
  contraction,  ///< acc[m, n] = sum over k of regions[0](m, k) * regions[1](k, n) for all m < rows, n < columns,
                ///< k < extent; the epilogue regions[2](m, n, acc) stores the results. The factors have one dtype,
                ///< 16-bit floats included; the accumulator has the same, or f32 for 16-bit floats. Accumulation runs
                ///< over k in order, in blocks that the code generator documents. Never inside a vectorised loop
  yield,        ///< terminator of a region that yields values: operands
};

enum class LoopKind : uint8_t {
  parallel,    ///< iterations are independent; regions[0](index); no results
  sequential,  ///< in order; operands: initial carries; regions[0](index, carries...) yields the next carries. With
               ///< `combiners` it is cumulative: the next carry k is combiners[k] of carry k and of a value that
               ///< depends on no carry, and may be reassociated as the code generator documents
  reduction,   ///< operands: initial values; regions[0](index) yields one contribution each; result k is the fold of
               ///< initial and contributions by combiners[k], in the fixed order that the code generator documents
};

/// GPU only: the threads that run the iterations of a loop. A thread group is a single thread, a warp, or a block. Code
/// outside every mapped loop is run by all threads of all groups alike, except that only the first thread of a group
/// stores; where such code stores, the grid is one group.
enum class ParallelMapping : uint8_t {
  replicated,  ///< every thread runs all iterations
  groups,      ///< each iteration runs on one thread group. Nested loops with this mapping are distributed as one loop
  threads,     ///< distributed over the threads of the group, all of which see the loop's stores after it
};

/// How a kernel runs on a GPU.
struct Launch {
  int64_t groups = 1;      ///< thread groups that share the iterations of loops mapped to groups
  int32_t group_size = 1;  ///< threads in a group: 1, 32, or all of a block
  int32_t threads = 32;    ///< in a block: a multiple of 32
};

/// How a loop combines its carries with the values of an iteration.
using Combiner = primitives::Combiner;

/// The neutral element of a combiner, with which a reduction's lanes start (arg forms: that of the value).
Literal identity(Combiner combiner, DType dtype);

struct Region;

struct Instruction {
  Op op = Op::constant;
  PrimitiveId primitive = 0;
  LoopKind loop = LoopKind::parallel;
  bool exact = false;  ///< scalar only: neither contracted nor reassociated, in any mode
  int32_t buffer = -1;
  Ids operands;
  Ids results;
  Literal literal;
  // ---- loops
  int64_t extent = 0;
  detail::InlineVector<Combiner, 4> combiners;
  int64_t rows = 0, columns = 0;  ///< contraction only: M and N; K is `extent`
  /// Schedule: iterations run in vectors of the target's width with a masked tail. At most one loop on any path from
  /// the root is vectorised. A vectorised reduction may reassociate (fixed by extent and width alone).
  bool vectorize = false;
  /// Schedule for a target, of a loop with `vectorize`: the lanes of its vectors; 1: it runs without vectors after all;
  /// 0: not chosen yet.
  uint16_t lanes = 0;
  /// Schedule for a target, of a vectorised parallel loop: vectors in an iteration of its main loop; 0: there is no
  /// main loop, all iterations run as the tail does. Of a reduction: contributions in an iteration, each with an
  /// accumulator of its own (1: the accumulators rotate); 0: it runs in order, or with one accumulator if
  /// it is vectorised. Of a vectorised sequential loop: 1 if the tail is an iteration like others, which all have a
  /// mask. On a GPU, of a loop mapped to groups:
  /// iterations that a thread runs interleaved, so that their loads overlap.
  uint8_t unroll = 0;
  /// Schedule for a CPU: the last vector ends with the last iteration and may repeat some, without a mask.
  bool overlapping_tail = false;
  /// Schedule for a CPU, of a vectorised parallel loop: its reductions traverse memory row by row, so many columns at a
  /// time; 0: each column is reduced on its own.
  int32_t column_tile = 0;
  /// Schedule for a CPU, of a store: it bypasses the caches where the addresses of its vectors are aligned.
  bool non_temporal = false;
  /// Schedule for a target, of a contraction: one of the two.
  std::shared_ptr<const CpuTiles> cpu_tiles = nullptr;
  std::shared_ptr<const GpuTiles> gpu_tiles = nullptr;
  /// Schedule: split over threads, in chunks of at least `grain` iterations. A reduction's chunks are whole blocks of
  /// its order of summation. A parallel loop with grain 0 is split together with the one loop inside it, chunk by
  /// chunk.
  bool threads = false;
  int64_t grain = 0;
  /// Of a parallel loop: local buffers, of which each iteration has its own. In a vectorised loop their elements are
  /// interleaved: those of all lanes with one index are one vector.
  detail::InlineVector<int32_t, 1> locals;
  ParallelMapping mapping = ParallelMapping::replicated;  ///< GPU only, where `threads` is ignored
  /// Schedule for a GPU, of two loops of a nest mapped to groups of one thread, the innermost being one of them. It
  /// runs in vectors of as many lanes as a thread runs of its iterations.
  ThreadTile thread_tile;
  std::vector<Region> regions;
};

/// The lanes of a loop that runs in vectors, else 0.
inline unsigned vector_lanes(const Instruction& i) { return i.vectorize && i.lanes > 1 ? i.lanes : 0; }

inline bool is_loop(const Instruction& i, LoopKind kind) { return i.op == Op::loop && i.loop == kind; }
inline bool is_parallel(const Instruction& i) { return is_loop(i, LoopKind::parallel); }
inline bool is_reduction(const Instruction& i) { return is_loop(i, LoopKind::reduction); }

struct Region {
  Ids parameters;
  std::vector<Instruction> instructions;
};

/// Whether `wanted` holds for some instruction of the region, at any nesting depth.
template <class Wanted>
bool contains(const Region& region, const Wanted& wanted) {
  for (const Instruction& i : region.instructions) {
    if (wanted(i)) return true;
    for (const Region& inner : i.regions)
      if (contains(inner, wanted)) return true;
  }
  return false;
}

/// Memory that a kernel reads or writes: a pointer parameter of static type, or local memory of an iteration. Strides
/// are folded into the indices.
struct Buffer {
  DType dtype = DType::f32;
  /// Elements from the lowest to one past the highest that may be accessed; 0 when empty.
  int64_t extent = 0;
  bool written = false;
  /// Guaranteed alignment in bytes.
  int64_t alignment = 1;
  /// Memory of an iteration of the loop that lists it: on the stack of a CPU's thread, in the local memory of a GPU's
  /// thread or the shared memory of a group. It has no contents when an iteration begins.
  bool local = false;
};

/// What a kernel was lowered from. Copies have no reductions, and the loops of an anchor op are not fused with others.
/// Scatters that write into their operand are pointwise: what they write may reduce.
enum class KernelOrigin : uint8_t { pointwise = 1, anchor_op = 2, copy = 4 };

/// One fused computation over one parallel index space.
struct Kernel {
  std::string name;                             ///< `fused_mul_sin_sum_1a2b3c4d`
  std::vector<Buffer> buffers;                  ///< the parameters, then local buffers
  std::vector<DType> values;                    ///< dtype of each Id
  Region body;                                  ///< without parameters and yield
  std::optional<Launch> launch = std::nullopt;  ///< present once scheduled for a GPU
  /// Per call, for `explain`.
  int64_t bytes_read = 0, bytes_written = 0, flops = 0;
  KernelOrigin origin = KernelOrigin::pointwise;  ///< decides which kernel passes run

  /// The buffers that calls pass.
  size_t num_parameters() const {
    size_t n = buffers.size();
    while (n > 0 && buffers[n - 1].local) --n;
    return n;
  }

  Id add_value(DType dtype) {
    values.push_back(dtype);
    return static_cast<Id>(values.size() - 1);
  }
};

/// Readable text, as `plan` shows it.
std::ostream& operator<<(std::ostream& out, const Kernel& kernel);

/// Checks structure, dtypes, definition before use and loop attributes. Throws CompileError that names the kernel and
/// the rule.
void verify(const Kernel& kernel);

}  // namespace calque::kernel
