// The reference evaluator behind the same native interface as compiled code: for CALQUE_BACKEND=reference. Inputs are
// read through their strides, outputs are copied to the caller's buffers.
#include <cstring>

#include "calque/detail/leaf_view.h"

#include "compile/executable.h"
#include "ir/values/bytes.h"
#include "reference/evaluate.h"

namespace calque::runtime {
namespace {

/// The evaluator borrows the caller's memory, except for graphs whose host functions may retain their arrays.
AnyArray input_array(const Type& type, const Strides& strides, void* data, bool copied) {
  detail::LeafView view{type.dtype, data, type.shape, strides};
  if (copied || !view.row_major()) return detail::copy_of(view);
  return AnyArray(type, detail::Storage::borrow(data, bytes_of(type), {}));
}

int32_t run_reference(void* context, void* const* buffers) {
  auto& call = *static_cast<Context*>(context);
  const Executable& executable = *call.executable;
  try {
    std::vector<AnyArray> inputs;
    inputs.reserve(executable.inputs.size());
    for (size_t i = 0; i < executable.inputs.size(); ++i) {
      inputs.push_back(
          input_array(executable.inputs[i], executable.input_strides[i], buffers[i], executable.copies_inputs));
    }
    const std::vector<AnyArray> outputs = reference::evaluate(*executable.graph, inputs, executable.evaluation);
    void* const* destination = buffers + executable.inputs.size();
    for (const AnyArray& output : outputs) {
      if (output.bytes() != 0) std::memcpy(*destination, output.data(), output.bytes());
      ++destination;
    }
    return 0;
  } catch (...) {
    call.exception = std::current_exception();
    return 1;
  }
}

}  // namespace

bool calls_host(const Graph& graph) {
  for (const Equation& e : graph.equations()) {
    if (e.primitive() == "host_call" || e.attributes().has("group")) return true;
    for (const Graph& inner : e.subgraphs()) {
      if (calls_host(inner)) return true;
    }
  }
  return false;
}

reference::Options reference_options(const CompileOptions& options) {
  reference::Options evaluation;
  if (options.strict) evaluation.forms.emplace();
  return evaluation;
}

std::shared_ptr<const Executable> make_evaluating_executable(const Graph& graph, std::span<const Strides> strides,
                                                             const reference::Options& evaluation) {
  auto executable = std::make_shared<Executable>();
  executable->entry = &run_reference;
  executable->inputs = graph.input_types();
  executable->input_strides.assign(strides.begin(), strides.end());
  executable->set_outputs(graph.output_types());
  executable->graph = std::make_shared<const Graph>(graph);
  executable->evaluation = evaluation;
  executable->copies_inputs = calls_host(graph);
  return executable;
}

std::shared_ptr<const Executable> make_reference_executable(const Graph& graph, std::span<const Strides> strides,
                                                            const CompileOptions& options) {
  return make_evaluating_executable(graph, strides, reference_options(options));
}

}  // namespace calque::runtime
