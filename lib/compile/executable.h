#pragma once
// An executable is what the process-wide table holds: a graph without large constants, compiled for given input
// layouts, options and target, with everything that a call needs ready as plain pointers.
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "calque/ir/graph.h"

#include "codegen/codegen.h"
#include "compile/compile_log.h"
#include "kernel/ir/program.h"
#include "reference/evaluate.h"

namespace calque::runtime {

/// What changes the code that is made of a graph.
struct CompileOptions {
  bool strict = false;
  bool fast_math = false;
  /// Run on the reference evaluator.
  bool reference = false;
  /// By input: the call gives its memory away. Shorter means no.
  std::vector<bool> donated = {};
  /// The code is wanted as a scalar entry that takes the first so many inputs by value; negative: not.
  int scalar_arguments = -1;
  /// On a GPU: floats are never combined in an order that varies from run to run. (On the CPU they never are.)
  bool deterministic = false;
  /// Subnormal operands and results of arithmetic are zero; so they are with fast_math.
  bool flush_subnormals = false;
  /// What it runs on. Inputs of devices other than the CPU are row-major.
  Device device = {};
  friend bool operator==(const CompileOptions&, const CompileOptions&) = default;
};

/// How the elements of an input lie: its strides in elements.
using Strides = Shape::Dims;

class DeviceProgram;

struct Executable {
  codegen::CompiledProgram::Entry entry = nullptr;
  std::vector<Type> inputs;
  std::vector<Strides> input_strides;
  std::vector<Type> outputs;
  std::vector<size_t> output_bytes;
  void set_outputs(std::vector<Type> types);
  std::vector<const void*> constants;  ///< in the entry's order
  int64_t workspace_bytes = 0;
  /// By output: the input in whose memory it is computed, or -1; empty when there are none.
  std::vector<int32_t> in_place;
  std::vector<kernel::HostFunctionRef> host_functions;

  // ---- what the pointers above refer to
  std::vector<AnyArray> constant_arrays;
  std::shared_ptr<const codegen::CompiledProgram> code;
  std::shared_ptr<const Graph> graph;  ///< of the reference backend
  reference::Options evaluation;       ///< the same's
  /// In place of an entry: what runs on a device.
  std::shared_ptr<const DeviceProgram> device;
  /// In place of an entry: what runs on the host, though the inputs and outputs are on a device.
  std::shared_ptr<const Executable> host;
  bool copies_inputs = false;  ///< of the reference backend: a host function may keep them

  /// About how many bytes of memory it takes: code, constants, tables.
  size_t bytes() const;
};

/// What an entry receives and passes on to every callback.
struct Context {
  codegen::ContextHeader header;
  const Executable* executable = nullptr;
  std::exception_ptr exception;
};

/// The stages between a traced graph and native code, for `lower` and `explain`.
Graph simplified_graph(const Graph& graph, const CompileOptions& options);
kernel::Program plan_graph(const Graph& simplified, std::span<const Strides> strides, const CompileOptions& options);
/// Kernels, what was not fused and why, bytes and operations, as text.
std::string explain_plan(const Graph& simplified, std::span<const Strides> strides, const CompileOptions& options);
codegen::CodegenOptions codegen_options(const CompileOptions& options);
/// The reason why the graph cannot become native code yet (complex numbers), or nothing.
std::optional<std::string> needs_reference(const Graph& graph);

/// The graph calls functions of the user's.
bool calls_host(const Graph& graph);

/// The executable of a graph from the process-wide table, compiled if it is not there. `report` tells which, and how
/// long that took. Executables that call the user's functions are not in the table: no other trace has the same
/// functions, and they must not outlive the callable that owns them. Throws CompileError.
std::shared_ptr<const Executable> find_executable(const Graph& graph, std::span<const Strides> strides,
                                                  const CompileOptions& options, CompileReport* report = nullptr);
/// Drops one executable, or all, from the table. Those in use live on.
void forget_executables(const std::unordered_set<const Executable*>& executables);
void clear_executables();
size_t num_executables();
/// How many bytes the table may hold; the environment says, and tests.
void limit_executables(size_t bytes);
/// How many were compiled since the program started.
uint64_t num_compilations();

/// How the reference evaluator computes functions: strict mode promises the bits of generated code.
reference::Options reference_options(const CompileOptions& options);
/// The executable that evaluates `graph` with the reference evaluator.
std::shared_ptr<const Executable> make_reference_executable(const Graph& graph, std::span<const Strides> strides,
                                                            const CompileOptions& options);

}  // namespace calque::runtime
