#pragma once
// The run-time state of a wrapped function, behind the opaque pointers of calque/detail/call.h.
#include <memory>
#include <mutex>
#include <string>

#include "calque/detail/call.h"

#include "ir/fork.h"
#include "runtime/call/call_table.h"

namespace calque::detail {

class FunctionState {
 public:
  JitOptions options;
  Location location;
  /// The options that are part of signatures.
  uint64_t options_word = 0;
  std::shared_ptr<runtime::CallTable> table;

  const std::string& name() const { return options.name; }
  /// The prefix of messages: `step`, or `jit` for a function without a name.
  std::string title() const { return options.name.empty() ? "jit" : options.name; }
};

class LoweredState {
 public:
  std::shared_ptr<const FunctionState> function;
  Graph graph;  ///< as traced
  double trace_seconds = 0;
  Graph compilable;  ///< with captured arrays lifted to inputs and without outputs that need no computation
  std::vector<runtime::Strides> strides;
  runtime::CompileOptions options;
  std::shared_ptr<runtime::CallEntry> entry;  ///< compile_lowered sets its executable
  mutable ForkMutex compiling;                ///< of `entry`
};

}  // namespace calque::detail

namespace calque::runtime {

CompileOptions compile_options(const detail::FunctionState& function);

/// A traced call before compilation.
struct Traced {
  Graph graph;
  std::shared_ptr<const void> structure;
  std::vector<detail::StaticPart> static_parts;  ///< of the structure, where branches follow the data
  std::vector<AnyArray> values;                  ///< results of an eager trace
  double seconds = 0;                            ///< spent running the lambda
};

/// The parts of the signature of the call's arguments; none for a graph that is called.
std::vector<detail::SignaturePart> signature_parts(const detail::CallSite& site);
/// The paths of the argument leaves; none for a graph that is called.
std::vector<std::string> leaf_paths(const detail::CallSite& site);
/// The name of an argument leaf in messages: `argument 0[1]`.
std::string path_of(const detail::CallSite& site, size_t leaf);
/// Checks the leaves (empty arrays, devices) and returns the device of the call. Throws ShapeError or DeviceError.
Device check_leaves(const detail::FunctionState& function, const detail::Arguments& arguments,
                    const detail::CallSite& site);
/// Runs the lambda in a new trace. `oracle` answers its questions, if it is not null. Propagates its exceptions; throws
/// ConcretizationError if it uses a tracer of an enclosing trace.
Traced trace_call(const detail::FunctionState& function, const detail::Arguments& arguments,
                  const detail::CallSite& site, bool eager, detail::Oracle* oracle = nullptr);
/// The value of a leaf, in host memory that the caller cannot change.
AnyArray value_of(const detail::LeafRef& leaf);

/// An entry for the traced graph, without an executable yet. Leaves in `traced.graph` the graph to compile.
std::shared_ptr<CallEntry> make_entry(const detail::Arguments& arguments, Traced& traced, Device device);
/// Strides of each input of `graph`: those of the leaves, row-major for lifted constants.
std::vector<Strides> input_strides(const detail::Arguments& arguments, const Graph& graph);

/// The function's options with the arguments whose memory results may reuse: donated arrays that are not results
/// themselves.
CompileOptions compile_options(const detail::FunctionState& function, const detail::Arguments& arguments,
                               const CallEntry& entry);

/// The executable of the graph that make_entry leaves in `traced`.
std::shared_ptr<const Executable> executable_of(const detail::FunctionState& function,
                                                const detail::Arguments& arguments, const Traced& traced,
                                                const CompileOptions& options);

/// Whether a call of the entry needs nothing but its executable's entry, see CallEntry::runs_directly.
bool runs_directly(const detail::FunctionState& function, const CallEntry& entry);

/// Runs the entry on arguments of its signature and donates those that the function donates. Exceptions of callbacks
/// propagate. Throws DeviceError when out of memory or a device fails.
void run(const detail::FunctionState& function, const CallEntry& entry, const detail::Arguments& arguments,
         detail::CallResult& result);

/// Throws a DeviceError that adds the user's function and location to the failure.
class CallFailure;
[[noreturn]] void rethrow(const detail::FunctionState& function, const CallFailure& e);

/// Whether the environment asks for eager traces.
bool eager_mode();

}  // namespace calque::runtime
