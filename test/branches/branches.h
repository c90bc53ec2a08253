#pragma once
// Shared by the tests of branches that follow the data.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {

using D = Array<double>;

inline JitOptions following(TraceLimits limits = {}) { return {.branches = branches::trace, .limits = limits}; }

template <class E, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace calque::test
