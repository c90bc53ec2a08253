#pragma once
// What a wrapped function is at run time, behind the pointers that calque/detail/call.h hands around.
#include <memory>
#include <mutex>
#include <string>

#include "calque/detail/call.h"

#include "runtime/call/call_table.h"

namespace calque::detail {

class FunctionState {
 public:
  JitOptions options;
  Location location;
  /// Options that enter signatures.
  uint64_t options_word = 0;
  std::shared_ptr<runtime::CallTable> table;

  const std::string& name() const { return options.name; }
  /// `step`, or `jit` for a function without a name: how messages begin.
  std::string title() const { return options.name.empty() ? "jit" : options.name; }
};

class LoweredState {
 public:
  std::shared_ptr<const FunctionState> function;
  Graph graph;  ///< as traced
  double trace_seconds = 0;
  Graph compilable;  ///< after captured arrays became inputs and outputs that need no computation were taken out
  std::vector<runtime::Strides> strides;
  runtime::CompileOptions options;
  std::shared_ptr<runtime::CallEntry> entry;  ///< its executable is there after compile_lowered
  mutable std::once_flag once;
};

}  // namespace calque::detail

namespace calque::runtime {

CompileOptions compile_options(const detail::FunctionState& function);

/// A traced call before compilation.
struct Traced {
  Graph graph;
  std::shared_ptr<const void> structure;
  std::vector<AnyArray> values;  ///< of eager traces
  double seconds = 0;            ///< that running the lambda took
};

/// How messages name a leaf of the arguments: `argument 0[1]`.
std::string path_of(const detail::CallSite& site, size_t leaf);
/// Checks the leaves (empty arrays, devices) and says where the call runs. Throws ShapeError or DeviceError.
Device check_leaves(const detail::FunctionState& function, const detail::Arguments& arguments,
                    const detail::CallSite& site);
/// Runs the lambda in a new trace. Throws what it throws, and ConcretizationError when it uses a tracer from outside.
Traced trace_call(const detail::FunctionState& function, const detail::Arguments& arguments,
                  const detail::CallSite& site, bool eager);

/// The traced graph as an entry without its executable; `graph` is left as what has to be compiled.
std::shared_ptr<CallEntry> make_entry(const detail::Arguments& arguments, Traced& traced, Device device);
/// Strides of each input of `graph`: the leaves' own, row-major for the hidden ones.
std::vector<Strides> input_strides(const detail::Arguments& arguments, const Graph& graph);

/// The function's options, and which of these arguments it takes over: donated arrays that are no results themselves.
CompileOptions compile_options(const detail::FunctionState& function, const detail::Arguments& arguments,
                               const CallEntry& entry);

/// The executable of what make_entry left.
std::shared_ptr<const Executable> executable_of(const detail::FunctionState& function,
                                                const detail::Arguments& arguments, const Traced& traced,
                                                const CompileOptions& options);

/// Tells the user whose call failed.
class CallFailure;
[[noreturn]] void rethrow(const detail::FunctionState& function, const CallFailure& e);

/// Whether the environment asks for eager traces.
bool eager_mode();

}  // namespace calque::runtime
