#pragma once
// An executable is an entry of the process-wide cache: a graph without large constants, compiled for given input
// layouts, options and target, with everything that a call needs as plain pointers.
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "calque/ir/graph.h"

#include "codegen/codegen.h"
#include "compile/compile_log.h"
#include "compile/compile_options.h"
#include "kernel/ir/program.h"
#include "kernel/schedule/threads.h"
#include "reference/evaluate.h"

namespace calque::runtime {

/// Everything that the code of an executable depends on.
struct ExecutableKey {
  GraphHash graph, constants;
  std::vector<int64_t> strides;  ///< of all inputs, one after the other
  CompileOptions options;
  std::string target;
  kernel::ThreadOptions threads = kernel::thread_options();
  friend bool operator==(const ExecutableKey&, const ExecutableKey&) = default;
};

class DeviceProgram;

struct Executable {
  /// Null if nothing is to be computed. Replaced by the entry of optimized code when that is ready.
  mutable std::atomic<codegen::CompiledProgram::Entry> entry{nullptr};
  std::vector<Type> inputs;
  std::vector<Strides> input_strides;
  std::vector<Type> outputs;
  std::vector<size_t> output_bytes;
  void set_outputs(std::vector<Type> types);
  std::vector<const void*> constants;  ///< in the entry's order
  int64_t workspace_bytes = 0;
  /// By output: the input whose memory it reuses, or -1; empty when there are none.
  std::vector<int32_t> in_place;
  std::vector<kernel::HostFunctionRef> host_functions;
  std::vector<kernel::RoutineRef> routines;

  // ---- owners of the pointers above
  std::vector<AnyArray> constant_arrays;
  std::shared_ptr<const codegen::CompiledProgram> code;
  /// Replaces `code`, which calls may still be running. Written once, before `entry`.
  mutable std::shared_ptr<const codegen::CompiledProgram> optimized;
  bool is_tiered = false;              ///< `code` is quickly made; optimized code follows
  std::shared_ptr<const Graph> graph;  ///< of the reference backend
  reference::Options evaluation;       ///< of the reference backend
  /// In place of an entry: the program that runs on a device.
  std::shared_ptr<const DeviceProgram> device;
  /// In place of an entry: an executable that runs on the host, with inputs and outputs on a device.
  std::shared_ptr<const Executable> host;
  bool copies_inputs = false;  ///< of the reference backend: a host function may retain them

  /// Calls run quickly made code, and the background thread is to replace it; false once that has succeeded or failed.
  mutable std::atomic<bool> awaits_optimized{false};
  bool optimized_entry_runs() const { return entry.load(std::memory_order_relaxed) != code->entry(); }

  /// Approximate memory in bytes: code, constants, tables.
  size_t bytes() const;
};

/// The context that an entry receives and passes to every callback.
struct Context {
  codegen::ContextHeader header;
  const Executable* executable = nullptr;
  std::exception_ptr exception;
};

/// Kernels, missed fusions with reasons, bytes and operations, as text.
std::string explain_plan(const kernel::Program& program);

/// Whether the graph calls functions of the user, or communicates.
bool calls_host(const Graph& graph);

/// The executable of a graph from the process-wide cache, compiled on a miss. `report` tells whether it was compiled
/// and the time of each stage. Executables that call the user's functions are not cached: no other trace has the same
/// functions, and they must not outlive the callable that owns them. Throws CompileError.
///
/// `defers`, if there is one, is asked on a miss, with the hash of the key, whether to leave the graph uncompiled; then
/// the result is null.
std::shared_ptr<const Executable> find_executable(const Graph& graph, std::span<const Strides> strides,
                                                  const CompileOptions& options, CompileReport* report = nullptr,
                                                  const std::function<bool(uint64_t hash)>& defers = {});
/// Drops the given executables, or all, from the cache. Those in use stay alive.
void forget_executables(const std::unordered_set<const Executable*>& executables);
void clear_executables();
size_t num_executables();
/// Sets the capacity of the cache in bytes; for tests. The default comes from the environment.
void limit_executables(size_t bytes);
/// The number of compilations since the program started.
uint64_t num_compilations();

/// Options of the reference evaluator: in strict mode its results match generated code bit for bit.
reference::Options reference_options(const CompileOptions& options);
/// The executable that evaluates `graph` with the reference evaluator: with these options of it, or with those of
/// reference_options.
std::shared_ptr<const Executable> make_evaluating_executable(const Graph& graph, std::span<const Strides> strides,
                                                             const reference::Options& evaluation);
std::shared_ptr<const Executable> make_reference_executable(const Graph& graph, std::span<const Strides> strides,
                                                            const CompileOptions& options);

}  // namespace calque::runtime
