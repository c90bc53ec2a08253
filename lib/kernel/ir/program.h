#pragma once
// A program is a whole compiled graph: buffers, kernels, and the steps of its entry function. Control flow is native:
// steps become branches and loops of the entry; no list is interpreted at run time.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calque/ir/collectives.h"

#include "kernel/ir/kernel.h"
#include "primitives/core/code_generation.h"

namespace calque::kernel {

enum class BufferKind : uint8_t { input, output, constant, workspace };

/// Memory of the entry function. Inputs have the caller's strides; everything else is dense row-major.
struct ProgramBuffer {
  BufferKind kind = BufferKind::workspace;
  int32_t index = 0;   ///< position among inputs, outputs or constants
  int64_t offset = 0;  ///< bytes into the workspace, or into the private memory of a loop (64-byte aligned)
  Type type;
  Shape::Dims strides;   ///< in elements
  bool donated = false;  ///< inputs only: outputs may be computed in it
  /// Workspace only: loop_id of the multithreaded `repeat` to whose iterations the buffer is private, or -1.
  int32_t private_to = -1;
};

/// A slice of a buffer: it starts at `offset` bytes plus, for each enclosing counted loop in `terms`, a step per
/// iteration. Where buffers take turns, the first choice all of whose conditions hold replaces it.
struct View {
  int32_t buffer = -1;
  int64_t offset = 0;
  struct Term {
    int32_t loop = 0;   ///< Step::loop_id of an enclosing `repeat`
    int64_t bytes = 0;  ///< times the iteration number (which counts down when `reverse`)
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;
  /// The iteration number of a loop has this remainder.
  struct Condition {
    int32_t loop = 0;  ///< Step::loop_id of an enclosing `repeat` or `while_`, or of a preceding `while_`
    int64_t period = 2;
    int64_t remainder = 1;
    bool holds(int64_t iteration) const { return iteration % period == remainder; }
    friend bool operator==(const Condition&, const Condition&) = default;
  };
  struct Choice {
    std::vector<Condition> conditions;  ///< on different loops
    int32_t buffer = -1;
    int64_t offset = 0;
    std::vector<Term> terms;
    bool depends_on(int32_t loop) const {
      return std::any_of(conditions.begin(), conditions.end(), [=](const Condition& c) { return c.loop == loop; });
    }
    friend bool operator==(const Choice&, const Choice&) = default;
  };
  std::vector<Choice> choices = {};
  friend bool operator==(const View&, const View&) = default;
};

/// A copy of a whole array, until reuse-donated: it is made unless the two are the same memory by then.
struct ArrayCopy {
  View to, from;
  std::string remark;  ///< for Program::copied
};

/// A carry of a loop of the entry before buffers are assigned to the carries: the body reads one buffer, before the
/// first iteration the initial value is written there, and writes the next value to another, or to the same one if the
/// carry never changes. No other steps use the two.
struct Carry {
  int32_t before = -1, next = -1;  ///< workspace buffers
  View result;                     ///< the memory of the final value
  int32_t spare = -1;              ///< workspace buffer for double buffering
  /// The body writes only those elements of `next` that change: valid once `next` is merged into `before`.
  bool updates = false;
  /// The number of another carry in whose memory, `next`, the next value is, or -1. No two carries have the same. The
  /// memory of a cycle of carries rotates after each iteration.
  int32_t from = -1;
  /// For Program::copied, if each iteration copies the carry. Empty for small carries.
  std::string remark = {};
};

enum class StepKind : uint8_t {
  kernel,     ///< call kernels[kernel] with `views` bound to its buffers in order
  copy,       ///< `bytes` bytes from views[1] to views[0] (no overlap); a no-op when they are the same memory
  while_,     ///< do blocks[0] (condition); if the bool at views[0] is false leave; do blocks[1]; again. Iterations are
              ///< numbered from 0 when there is a loop_id; the last number is available after the loop
  branch,     ///< i32 (or bool) at views[0], clamped to the blocks; run that block. A bool: true is blocks[0]
  repeat,     ///< `count` times blocks[0], iteration numbers 0..count-1, or count-1..0 when `reverse`
  iota_i32,   ///< store the current iteration number of loop_id at views[0] (dtype of the buffer)
  host_call,  ///< call `function` with views: first its arguments, then its results; also debug_print and collectives
  routine,    ///< call `routine` with views: first its arguments, then its results, which overlap nothing
};

/// A collective may be two calls, of the same operand and result.
enum class CallPhase : uint8_t {
  whole,
  start,   ///< begins it: until it is completed, its result may be written at any time and its operand must not change
  finish,  ///< completes it
};

/// A call back into C++: host_call, debug_print and collectives. Types of the arguments, then of the results, all dense
/// row-major.
struct HostFunctionRef {
  std::string primitive;                   ///< host_call, debug_print, all_reduce, ...
  Attributes equation_attributes;          ///< of the equation: debug_print's format
  std::shared_ptr<const Opaque> function;  ///< host_call's function; a collective's group
  std::optional<CollectiveCall> collective = {};
  CallPhase phase = CallPhase::whole;
  std::vector<Type> arguments, results;
  Location location;
};

/// A call of a routine of the runtime. Types of the arguments, then of the results, all dense row-major.
struct RoutineRef {
  primitives::Routine routine = primitives::Routine::cholesky;
  uint32_t flags = 0;  ///< primitives::RoutineFlag
  std::vector<Type> arguments, results;
  Location location;
};

struct Step {
  StepKind kind = StepKind::kernel;
  int32_t kernel = -1;
  std::vector<View> views;
  int64_t bytes = 0;
  int64_t count = 0;
  bool reverse = false;
  int32_t loop_id = -1;
  int32_t host_function = -1;
  int32_t routine = -1;
  std::vector<std::vector<Step>> blocks;
  std::vector<Carry> carries;                ///< of a loop, until alias-carries
  std::vector<ArrayCopy> array_copies = {};  ///< of a kernel or copy, until reuse-donated
  int64_t most_iterations = -1;              ///< of a `while_`: an upper bound, or -1 where none is known
  // ---- of a `repeat`
  /// Types of the carries when all carries are sums to which each iteration adds, else empty. `views` are their memory.
  std::vector<Type> sums;
  /// Iterations run on several threads. Each thread has its own copy of the buffers that are private to the loop.
  bool threads = false;
  /// Iterations per chunk, in the order in which they are counted; the last chunk may be shorter. Threads take whole
  /// chunks. 0: no chunks.
  int64_t grain = 0;
  /// The loop id that denotes the chunk number in views, or -1.
  int32_t chunk_id = -1;
  int64_t private_bytes = 0;  ///< of memory that each thread needs for the private buffers
};

/// The number of chunks of a `repeat` with a grain.
inline int64_t num_chunks(const Step& loop) { return (loop.count + loop.grain - 1) / loop.grain; }

/// The input of the code generator. The entry is `int32_t entry(Context*, void* const* buffers)`, where `buffers` holds
/// the inputs, the outputs, the constants and last the workspace; it returns 0, or 1 when a callback failed.
struct Program {
  std::string name;
  std::vector<ProgramBuffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
  std::vector<HostFunctionRef> host_functions;
  std::vector<RoutineRef> routines;
  std::vector<AnyArray> constants;
  int32_t num_inputs = 0, num_outputs = 0;
  /// By output: the donated input whose memory it reuses, or -1. The caller passes one pointer for both. Empty when
  /// nothing was donated.
  std::vector<int32_t> in_place;
  int64_t workspace_bytes = 0;
  int32_t num_loops = 0;
  /// Missed fusions, with their reasons.
  std::vector<std::string> remarks;
  /// Copies of whole arrays in loops and before them, and what forces them.
  std::vector<std::string> copied = {};
  /// Collectives that no other work overlaps, with the reasons.
  std::vector<std::string> awaited = {};
};

/// The whole program as text, which parse_program reads back exactly.
std::ostream& operator<<(std::ostream& out, const Program& program);

/// Checks that steps refer only to what exists and is in scope, and that views are inside their buffers. Throws
/// CompileError that names the rule and the step. Kernels are verified separately.
void verify(const Program& program);
/// A rule that the program breaks, and the number of the step (counted in the order of the text) or else of the buffer
/// that breaks it.
struct Violation {
  int64_t step = -1, buffer = -1;
  std::string rule;
};
std::optional<Violation> find_violation(const Program& program);

}  // namespace calque::kernel
