#include "ir/environment.h"

#include <cstdlib>

namespace calque {

const char* variable(VariableName name) { return std::getenv(name.c_str()); }

bool is_on(VariableName name) {
  const char* const value = variable(name);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace calque
