// A typed scalar function: the entry's argument block is built from pointers to the caller's arguments.
#include <cstring>

#include "calque/function.h"

#include "runtime/function_state.h"
#include "runtime/workspace.h"

namespace calque::detail {
namespace {

struct Scalar {
  std::shared_ptr<const runtime::CallEntry> entry;
  /// What follows the arguments: hidden inputs.
  std::vector<const void*> hidden;
  size_t arguments = 0, bytes = 0;
};

void call_entry(const void* owner, const void* const* arguments, void* result) {
  const auto& scalar = *static_cast<const Scalar*>(owner);
  const runtime::Executable& executable = *scalar.entry->executable;
  StackList<void*, 24> block;
  for (size_t i = 0; i < scalar.arguments; ++i) block.push_back(const_cast<void*>(arguments[i]));
  for (const void* p : scalar.hidden) block.push_back(const_cast<void*>(p));
  block.push_back(result);
  for (const void* p : executable.constants) block.push_back(const_cast<void*>(p));
  const runtime::Workspace workspace(executable.workspace_bytes);
  block.push_back(workspace.data());
  runtime::Context context{{&runtime::runtime_table()}, &executable, nullptr};
  if (executable.entry(&context, block.data()) != 0) [[unlikely]] {
    if (context.exception) std::rethrow_exception(context.exception);
    throw CompileError("call: generated code reported a failure without an exception");
  }
}

/// The result is an argument as it is, or a captured value.
void copy_result(const void* owner, const void* const* arguments, void* result) {
  const auto& scalar = *static_cast<const Scalar*>(owner);
  const runtime::OutputSource source = scalar.entry->sources.front();
  std::memcpy(result,
              source.kind == runtime::OutputSource::Kind::argument ? arguments[source.index]
                                                                   : scalar.entry->constants[source.index].data(),
              scalar.bytes);
}

}  // namespace

void call_nothing(const void*, const void* const*, void*) {
  throw Error("function: it is empty, having been default-constructed or moved from");
}

ScalarCode compile_scalar(const std::shared_ptr<const FunctionState>& function, Arguments& arguments,
                          const CallSite& site, const Type& result) {
  const Device device = runtime::check_leaves(*function, arguments, site);
  runtime::Traced traced = runtime::trace_call(*function, arguments, site, false);
  const Type got = traced.graph.output_types().front();
  if (!(got == result)) {
    throw ShapeError(function->title() + ": the signature returns " + to_string(result) + ", the function " +
                     to_string(got) + where_text(function->location));
  }
  auto entry = runtime::make_entry(arguments, traced, device);
  entry->executable = runtime::executable_of(*function, arguments, traced);
  auto scalar = std::make_shared<Scalar>();
  scalar->arguments = arguments.leaves().size();
  scalar->bytes = size_of(result.dtype);
  for (const AnyArray& array : entry->hidden) scalar->hidden.push_back(array.data());
  const bool computed = entry->sources.front().kind == runtime::OutputSource::Kind::computed;
  scalar->entry = std::move(entry);
  return {scalar, computed ? &call_entry : &copy_result};
}

}  // namespace calque::detail
