// GoogleTest's main, reimplemented so that this archive also holds the precompiled header of the tests.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
