#pragma once
// The wrapped functions that are being traced on a thread, one inside the other.
#include <string>
#include <string_view>

#include "calque/ir/location.h"

namespace calque::detail {

/// A function while it is traced, on its own or as a part of a running trace. Nested calls of a thread form a stack.
class NestedCall {
 public:
  /// `function` identifies the function; `name` may be empty and is that of messages. Throws CompileError when the
  /// calls are nested deeper than the stack of the thread allows.
  NestedCall(const void* function, std::string_view name, const Location& location);
  ~NestedCall();
  NestedCall(const NestedCall&) = delete;
  NestedCall& operator=(const NestedCall&) = delete;

 private:
  friend std::string endless_recursion();
  friend std::string traced_function(std::string_view graph);
  const NestedCall* previous() const;
  std::string recursion() const;

  const void* const function_;
  const std::string_view name_;
  const Location location_;
  const NestedCall* const caller_;
  const int depth_;
};

/// "f: the function calls itself through g ...", if the calls of this thread that are nested most deeply are those of a
/// recursion; else empty.
std::string endless_recursion();

/// The innermost function that is being traced on this thread, as `step`, or as `jit (model.cpp:42)` if it has no name;
/// outside of functions the name of the graph.
std::string traced_function(std::string_view graph);

}  // namespace calque::detail
