#include "calque/detail/control_trees.h"

#include "calque/ir/errors.h"

#include "trace/builder.h"

namespace calque::detail {

void require_trace(std::string_view operation, Location location) {
  if (tracing()) return;
  throw LeakedTracerError(std::string(operation) +
                          ": needs a running trace; call it inside a function that cq::jit wraps" +
                          where_text(user_location(location)));
}

void require_same_structure(std::string_view operation, std::string_view what, const std::string& expected,
                            const std::string& got, Location location) {
  if (expected == got) return;
  throw ShapeError(std::string(operation) + ": " + std::string(what) +
                   " differ in a size, a key or a value that is known while tracing" +
                   where_text(user_location(location)));
}

}  // namespace calque::detail
