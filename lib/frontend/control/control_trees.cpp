#include "calque/detail/control/control_trees.h"

#include <algorithm>

#include "calque/ir/errors.h"

#include "trace/builder.h"

namespace calque::detail {

void require_trace(std::string_view operation, Location location) {
  if (tracing()) return;
  throw LeakedTracerError(std::string(operation) +
                          ": needs a running trace; call it inside a function that cq::jit wraps" +
                          where_text(user_location(location)));
}

void require_same_structure(std::string_view operation, std::string_view what, const std::vector<StaticPart>& expected,
                            const std::vector<StaticPart>& got, Location location) {
  const size_t common = std::min(expected.size(), got.size());
  size_t i = 0;
  while (i < common && expected[i].bytes == got[i].bytes && expected[i].path == got[i].path) ++i;
  if (i == common && expected.size() == got.size()) return;
  std::string text = std::string(operation) + ": " + std::string(what) +
                     " differ in a size, a key or a value that is known while tracing";
  if (i < common && expected[i].path == got[i].path) {
    text += ", " + expected[i].text + " and " + got[i].text;
    if (!got[i].path.empty()) text += " at " + got[i].path;
  }
  throw ShapeError(text + where_text(user_location(location)));
}

}  // namespace calque::detail
