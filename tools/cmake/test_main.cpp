// GoogleTest's main, reimplemented so that this archive also holds the precompiled header of the tests, and so that the
// operations of tests run generated code.
#include <cstdlib>

#include <gtest/gtest.h>

#include "runtime/process/environment.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  calque::runtime::mutable_environment().evaluates_first = std::getenv("CALQUE_TEST_FIRST_RUNS") != nullptr;
  return RUN_ALL_TESTS();
}
