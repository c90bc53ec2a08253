#pragma once
// A program is a whole compiled graph: buffers, kernels, and the steps of its entry function. Control flow is native:
// steps are branches and loops of the entry, never a list walked at run time.
#include <memory>
#include <string>
#include <vector>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

enum class BufferKind : uint8_t { input, output, constant, workspace };

/// Memory of the entry function. Inputs have their caller's strides; everything else is dense row-major.
struct ProgramBuffer {
  BufferKind kind = BufferKind::workspace;
  int32_t index = 0;   ///< position among inputs, outputs or constants
  int64_t offset = 0;  ///< bytes into the workspace, or into the private memory of a loop (64-byte aligned)
  Type type;
  Shape::Dims strides;  ///< in elements
  /// Of the workspace: loop_id of the `repeat` on threads to whose iterations it is private, or -1.
  int32_t private_to = -1;
};

/// Part of a buffer: from `offset` bytes, plus, for each enclosing counted loop named, step bytes per iteration. A view
/// may take turns: the first choice whose loop is in an odd iteration stands for it, else its own place.
struct View {
  int32_t buffer = -1;
  int64_t offset = 0;
  struct Term {
    int32_t loop = 0;   ///< Step::loop_id of an enclosing `repeat`
    int64_t bytes = 0;  ///< times the iteration number (which counts down when `reverse`)
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;
  struct Choice {
    int32_t loop = 0;   ///< Step::loop_id of a `repeat` or `while_` around, or of a `while_` before
    int64_t phase = 0;  ///< added to the iteration number
    int32_t buffer = -1;
    int64_t offset = 0;
    std::vector<Term> terms;
    friend bool operator==(const Choice&, const Choice&) = default;
  };
  std::vector<Choice> choices = {};
  friend bool operator==(const View&, const View&) = default;
};

enum class StepKind : uint8_t {
  kernel,     ///< call kernels[kernel] with `views` bound to its buffers in order
  copy,       ///< `bytes` bytes from views[1] to views[0] (no overlap); nothing when they are the same place
  while_,     ///< do blocks[0] (condition); if the bool at views[0] is false leave; do blocks[1]; again. Iterations are
              ///< numbered from 0 when there is a loop_id, and the last number stays known behind the loop
  branch,     ///< i32 (or bool) at views[0], clamped to the blocks; run that block. A bool: true is blocks[0]
  repeat,     ///< `count` times blocks[0], iteration numbers 0..count-1, or count-1..0 when `reverse`
  iota_i32,   ///< store the current iteration number of loop_id at views[0] (dtype of the buffer)
  host_call,  ///< call `function` with views: first its arguments, then its results; also debug_print
};

/// A call back into C++: host_call and debug_print. Types of the arguments, then of the results, all dense row-major.
struct HostFunctionRef {
  std::string primitive;                   ///< host_call or debug_print
  Attributes equation_attributes;          ///< of the equation: debug_print's format
  std::shared_ptr<const Opaque> function;  ///< host_call's function
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
  std::vector<std::vector<Step>> blocks;
  // ---- of a `repeat`
  /// Where the loop carries nothing but sums, to which each iteration adds: their types. The views are their memory.
  std::vector<Type> sums;
  /// Its iterations run on several threads. Each thread has its own copy of the buffers that are private to the loop.
  bool threads = false;
  /// Iterations, in the order in which they are counted, form pieces of so many; the last may be shorter. Threads take
  /// whole pieces. 0: there are no pieces.
  int64_t grain = 0;
  /// The loop id that stands in views for the number of the piece, or -1.
  int32_t piece_id = -1;
  int64_t private_bytes = 0;  ///< of memory that each thread needs for the private buffers
};

/// How many pieces the iterations of a `repeat` form that has pieces.
inline int64_t pieces_of(const Step& loop) { return (loop.count + loop.grain - 1) / loop.grain; }

/// What the code generator takes. The entry is `int32_t entry(Context*, void* const* buffers)`, where `buffers` holds
/// the inputs, the outputs, the constants and last the workspace; it returns 0, or 1 when a callback failed.
struct Program {
  std::string name;
  std::vector<ProgramBuffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
  std::vector<HostFunctionRef> host_functions;
  std::vector<AnyArray> constants;
  int32_t num_inputs = 0, num_outputs = 0;
  /// By output: the donated input in whose memory it is computed, or -1. The caller passes one pointer for both. Empty
  /// when nothing was donated.
  std::vector<int32_t> in_place;
  int64_t workspace_bytes = 0;
  int32_t num_loops = 0;
  /// What was not fused, and why.
  std::vector<std::string> notes;
  /// How long it took to decide what becomes a kernel, out of the whole of build_program.
  double plan_seconds = 0;
};

std::ostream& operator<<(std::ostream& out, const Program& program);

}  // namespace calque::kernel
