// GoogleTest's main in our own words, so that the archive also carries the tests' precompiled header.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
