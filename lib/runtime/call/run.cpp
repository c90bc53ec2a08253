// An operation on arrays outside jit is a small graph: traced each time, since only tracing determines the operation,
// and looked up by its canonical hash.
#include "calque/detail/run.h"

#include "calque/device.h"
#include "calque/ir/errors.h"

#include "compile/first_runs.h"
#include "runtime/call/dispatch.h"
#include "runtime/device/device_api.h"
#include "runtime/memory/array_pool.h"
#include "runtime/process/environment.h"
#include "transform/simplify/lift_constants.h"

namespace calque::detail {
namespace {

/// The common device of several operands. Host operands are moved to the device of the others where allowed.
class CommonDevice {
 public:
  explicit CommonDevice(std::string_view operation) : operation_(operation), home_(default_device()) {}
  void add(const AnyArray& array) {
    const Device its = array.device();
    if (runtime::has_host_memory(its) && !runtime::has_host_memory(home_)) return;
    if (device_ && *device_ != its) {
      throw DeviceError(std::string(operation_) + ": operands are on different devices, " + to_string(*device_) +
                        " and " + to_string(its) + "; move one with to()");
    }
    device_ = its;
  }
  Device device() const { return device_.value_or(home_); }

 private:
  const std::string_view operation_;
  const Device home_;
  std::optional<Device> device_;
};

}  // namespace

std::vector<AnyArray> run_arrays(std::string_view name, std::span<const AnyArray* const> arrays, BodyRef body) {
  runtime::install_pool();
  std::vector<Type> types;
  std::vector<AnyArray> values;
  CommonDevice common(name);
  const bool eager = runtime::environment().disable_jit;
  for (const AnyArray* array : arrays) {
    if (array->empty()) throw ShapeError(std::string(name) + ": an operand is an empty array");
    common.add(*array);
    types.push_back(array->type());
    if (eager) values.push_back(copy_to_device(name, *array, cpu(), {}));
  }
  const Device device = common.device();
  require_device(name, device, {});
  TraceOptions options;
  options.eager = eager;
  options.values = values;
  TraceResult traced = trace_graph(name, types, body, options);
  if (!traced.captures.empty()) {
    throw ConcretizationError(std::string(name) +
                              ": runs at once on arrays, but uses a tracer; pass the tracer as an operand");
  }
  if (eager) {
    for (AnyArray& value : traced.values) value = copy_to_device(name, value, device, {});
    return std::move(traced.values);
  }

  // Outputs that are inputs or constants need no code.
  std::vector<AnyArray> results(traced.graph.outputs().size());
  std::vector<size_t> computed;
  std::vector<Value> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    const Value v = traced.graph.outputs()[i];
    if (traced.graph.kind(v) == ValueKind::input) {
      results[i] = copy_to_device(name, *arrays[traced.graph.input_index(v)], device, {});
    } else if (traced.graph.kind(v) == ValueKind::constant) {
      results[i] = copy_to_device(name, traced.graph.constant(v), device, {});
    } else {
      computed.push_back(i);
      outputs.push_back(v);
    }
  }
  if (computed.empty() && traced.graph.num_equations() == 0) return results;
  traced.graph.set_outputs(std::move(outputs));
  const std::vector<AnyArray> lifted = transform::lift_constants(traced.graph);
  std::vector<const AnyArray*> inputs(arrays.begin(), arrays.end());
  for (const AnyArray& array : lifted) inputs.push_back(&array);
  std::vector<runtime::Strides> strides;
  for (const Value v : traced.graph.inputs()) strides.push_back(row_major_strides(traced.graph.shape(v)));
  runtime::CompileOptions compile{runtime::environment().strict, false, runtime::environment().reference_backend};
  compile.device = device;
  compile.tier = runtime::environment().tier;
  runtime::CompileReport report;
  report.equations = traced.graph.num_equations();
  const auto executable = runtime::executable_of_operation(traced.graph, strides, compile, report);
  runtime::log_compilation(std::string(name), report);
  std::vector<AnyArray> made = runtime::execute(*executable, inputs, device);
  for (size_t k = 0; k < computed.size(); ++k) results[computed[k]] = std::move(made[k]);
  return results;
}

}  // namespace calque::detail
