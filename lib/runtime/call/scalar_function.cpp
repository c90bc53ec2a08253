// A typed scalar function. If the code has a scalar entry, a call jumps there directly; otherwise the argument block of
// the ordinary entry is built from the addresses of the arguments.
#include <cstring>

#include "calque/device.h"
#include "calque/function.h"

#include "codegen/codegen.h"
#include "runtime/call/branch_call.h"
#include "runtime/call/function_state.h"
#include "runtime/device/device_api.h"
#include "runtime/memory/workspace.h"

namespace calque::detail {
namespace {

struct Scalar : ScalarState {
  std::shared_ptr<const FunctionState> function;
  std::shared_ptr<const runtime::CallEntry> entry;
  std::vector<const void*> pointers;  ///< `data`
  size_t arguments = 0, bytes = 0;
};
static_assert(offsetof(ScalarState, data) == offsetof(codegen::ScalarData, data));

void call_entry(const ScalarState& self, const void* const* arguments, void* result) {
  const auto& scalar = static_cast<const Scalar&>(self);
  runtime::Block block;
  for (size_t i = 0; i < scalar.arguments; ++i) block.push_back(const_cast<void*>(arguments[i]));
  for (const AnyArray& array : scalar.entry->lifted) block.push_back(const_cast<void*>(array.data()));
  block.push_back(result);
  try {
    runtime::run_entry(*scalar.entry->executable, block);
  } catch (const runtime::CallFailure& e) {
    runtime::rethrow(*scalar.function, e);
  }
}

/// The result is an argument returned unchanged, or a captured value.
void copy_result(const ScalarState& self, const void* const* arguments, void* result) {
  const auto& scalar = static_cast<const Scalar&>(self);
  const runtime::OutputSource source = scalar.entry->sources.front();
  std::memcpy(result,
              source.kind == runtime::OutputSource::Kind::argument ? arguments[source.index]
                                                                   : scalar.entry->constants[source.index].data(),
              scalar.bytes);
}

}  // namespace

void throw_empty_function() { throw Error("function: it is empty, having been default-constructed or moved from"); }
void throw_not_traceable() {
  throw Error(
      "function: it holds a function of data, or one that was compiled for scalars, and cannot be called with tracers; "
      "make it of cq::jit(lambda)");
}

void call_scalar(const void* state, const void* const* arguments, void* result) {
  if (state == nullptr) throw_empty_function();
  const auto& scalar = *static_cast<const ScalarState*>(state);
  scalar.call(scalar, arguments, result);
}

ScalarCode compile_scalar(const std::shared_ptr<const FunctionState>& function, Arguments& arguments,
                          const CallSite& site, const Type& result) {
  if (function->options.device && !runtime::has_host_memory(*function->options.device)) {
    throw DeviceError(function->title() + ": a function of scalars runs on the CPU, not on " +
                      to_string(*function->options.device) + where_text(function->location));
  }
  runtime::check_leaves(*function, arguments, site);
  arguments.set_options(function->options_word);
  runtime::Traced traced = runtime::trace_for(*function, arguments, site, "compile");
  const Type got = traced.graph.output_types().front();
  if (!(got == result)) {
    throw ShapeError(function->title() + ": the signature returns " + to_string(result) + ", the function " +
                     to_string(got) + where_text(function->location));
  }
  auto entry = runtime::make_entry(arguments, traced, cpu());
  runtime::CompileOptions options = runtime::compile_options(*function);
  options.scalar_arguments = static_cast<int>(arguments.leaves().size());
  entry->executable = runtime::executable_of(*function, arguments, traced, options);
  auto scalar = std::make_shared<Scalar>();
  scalar->function = function;
  scalar->arguments = arguments.leaves().size();
  scalar->bytes = size_of(result.dtype);
  for (const AnyArray& array : entry->lifted) scalar->pointers.push_back(array.data());
  for (const void* constant : entry->executable->constants) scalar->pointers.push_back(constant);
  scalar->data = scalar->pointers.data();
  const bool computed = entry->sources.front().kind == runtime::OutputSource::Kind::computed;
  scalar->call = computed ? &call_entry : &copy_result;
  const void* native = computed && entry->executable->code ? entry->executable->code->scalar_entry() : nullptr;
  scalar->entry = std::move(entry);
  return {std::move(scalar), native};
}

}  // namespace calque::detail
