#include "ir/environment.h"

#include <cstdlib>

#include <unistd.h>

#include "ir/text/nearest.h"

namespace calque {

const char* variable(VariableName name) { return std::getenv(name.c_str()); }

bool is_on(VariableName name) {
  const char* const value = variable(name);
  return value != nullptr && std::string_view(value) == "1";
}

std::vector<UnknownVariable> unknown_variables() {
  constexpr std::string_view kPrefix = "CALQUE_", kTests = "CALQUE_TEST_";
  std::vector<std::string_view> known;  // without the prefix, which would make all names similar
  for (const EnvironmentVariable& variable : kEnvironmentTable) known.push_back(variable.name.substr(kPrefix.size()));
  std::vector<UnknownVariable> unknown;
  for (char* const* at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view text(*at);
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with(kPrefix) || name.starts_with(kTests)) continue;
    const std::string_view own = name.substr(kPrefix.size());
    bool is_known = false;
    for (const std::string_view k : known) is_known |= k == own;
    if (is_known) continue;
    const std::string_view nearest = text::nearest(own, known);
    // The names of the table have the prefix before them.
    unknown.push_back({std::string(name), nearest.empty() ? nearest
                                                          : std::string_view(nearest.data() - kPrefix.size(),
                                                                             nearest.size() + kPrefix.size())});
  }
  return unknown;
}

}  // namespace calque
