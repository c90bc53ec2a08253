// Settings of the process that a test changes and gives back.
#pragma once

#include "calque/calque.h"

#include "runtime/process/environment.h"

namespace calque::test {

/// Settings that a test may change through runtime::mutable_environment(). They are restored when nothing is being
/// compiled in the background, which reads them.
class RestoredEnvironment {
 public:
  RestoredEnvironment() { wait_for_compilation(); }
  ~RestoredEnvironment() {
    wait_for_compilation();
    runtime::mutable_environment() = before_;
  }
  RestoredEnvironment(const RestoredEnvironment&) = delete;
  RestoredEnvironment& operator=(const RestoredEnvironment&) = delete;

 private:
  const runtime::Environment before_ = runtime::environment();
};

}  // namespace calque::test
