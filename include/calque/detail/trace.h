#pragma once
// The running traces of a thread. Tracing pushes a builder; operations record into the innermost one; a tracer of an
// enclosing trace that is used inside becomes a capture (an extra input) of every trace between.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/branches.h"
#include "calque/detail/function_ref.h"
#include "calque/detail/operand.h"

namespace calque::detail {

class Oracle;
class Hoist;

struct TraceOptions {
  /// Evaluate each operation as it is recorded (CALQUE_DISABLE_JIT=1): tracers then have values.
  bool eager = false;
  /// Inputs' concrete values; only for eager traces.
  std::span<const AnyArray> values;
  /// Paths of the inputs in the caller's arguments, for messages: "argument 0 .w[1]". May be empty.
  std::span<const std::string> paths;
  /// The body of a loop, for advice in messages.
  bool loop_body = false;
  /// Answers the questions of C++ code about tracers of this trace, which is the outermost one. May be null.
  Oracle* oracle = nullptr;
  /// Asks the questions of this trace in the enclosing one. May be null.
  Hoist* hoist = nullptr;
};

struct TraceResult {
  /// Closed and canonical. Its inputs are the requested ones, then one for each capture.
  Graph graph;
  /// Tracers of enclosing traces that the body used, in order of first use.
  std::vector<Handle> captures;
  /// Outputs' concrete values; only for eager traces.
  std::vector<AnyArray> values;
};

/// A function that receives one handle for each input and appends the outputs.
using TraceBody = std::function<void(std::span<const Handle> inputs, std::vector<Handle>& outputs)>;
using BodyRef = FunctionRef<void(std::span<const Handle> inputs, std::vector<Handle>& outputs)>;

/// Runs `body` in a new trace nested in those that run on this thread. If the body throws, the exception propagates,
/// the trace is discarded and the thread's stack of traces is restored.
TraceResult trace_graph(std::string_view name, std::span<const Type> inputs, BodyRef body,
                        const TraceOptions& options = {});

/// RAII: while the innermost instance lives, it decides what happens when C++ code asks for the value of a tracer.
class FollowBranches {
 public:
  explicit FollowBranches(branches which);
  ~FollowBranches();
  FollowBranches(const FollowBranches&) = delete;
  FollowBranches& operator=(const FollowBranches&) = delete;

 private:
  branches outer_;
};
/// What the innermost instance says; else `refuse`.
branches followed_branches();

/// True if a trace is running on this thread.
bool tracing();

/// The type of a tracer. Throws LeakedTracerError for a handle whose trace has ended, or a default-constructed tracer.
const Type& type_of(Handle handle, Location location);

/// Records one equation in the innermost trace (lifting captures) and appends its results. Throws LeakedTracerError
/// when no trace is running.
void emit(const Primitive& primitive, std::span<const Handle> operands, Attributes attributes,
          std::vector<Graph> subgraphs, Location location, std::vector<Handle>& results);
/// The same for a primitive with one result.
Handle emit(const Primitive& primitive, std::span<const Handle> operands, Attributes attributes, Location location);
Handle emit(const Primitive& primitive, std::initializer_list<Handle> operands, Attributes attributes,
            Location location);
/// Records every equation of a graph, inlining it. Returns its outputs.
std::vector<Handle> emit_graph(const Graph& graph, std::span<const Handle> inputs);

/// A splat literal of the innermost trace.
Handle literal(const Literal& element, const Type& type, Location location);
/// A C++ number as a literal of this dtype, a scalar of no trace. (Only a complex number of two doubles is one of the
/// innermost trace.) Throws DTypeError for an integer that the dtype cannot hold.
Handle literal_handle(const Operand& number, DType dtype, Location location);
/// A captured array: a constant of the innermost trace (of rank 0: a literal).
Handle constant(const AnyArray& array, Location location);
/// Any operand as a value of the innermost trace; weak literals become values of `dtype`. Throws DTypeError when an
/// integer literal does not fit `dtype`.
Handle lift(const Operand& operand, DType dtype, Location location);

/// "f32[3,4] %7", the printed form of a tracer; with its value under an eager trace.
std::string describe(Handle handle);
/// The path of the argument whose shape a value has: of the value itself, or of an operand that it was computed from
/// element by element. Empty when there is none.
std::string argument_of_shape(Handle handle);
/// Notes that an input of the innermost trace is an Eigen object, beside which a user may expect Eigen's arithmetic.
void note_eigen_argument(Handle handle);
bool is_eigen_argument(Handle handle);
/// The concrete value in an eager trace. Otherwise throws ConcretizationError that names the line of the operation that
/// made the value (or the argument's path) and the remedy.
AnyArray concrete(Handle handle, std::string_view wanted, Location location);

}  // namespace calque::detail
