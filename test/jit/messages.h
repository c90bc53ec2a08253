#pragma once
// Complete error messages, with the line that they name.
#include <source_location>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "calque/ir/location.h"

namespace calque {

/// The message of the E that the call throws; fails the test if it throws none.
template <class E, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception came: " << e.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// ` (file.cpp:line)`, `below` lines under the caller's. For a call in a statement of its own: in the arguments of a
/// macro, as EXPECT_EQ, compilers disagree about the line.
inline std::string line_below(uint32_t below = 1, Loc loc = Loc::current()) {
  return where_text(Location(loc.file_name(), loc.line() + below));
}

}  // namespace calque
