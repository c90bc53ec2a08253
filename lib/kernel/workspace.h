#pragma once
// Places of intermediate values in one block of memory. Lifetimes are intervals of step numbers; values whose lifetimes
// do not meet may share bytes.
#include <cstdint>
#include <vector>

#include "kernel/program.h"

namespace calque::kernel {

class Workspace {
 public:
  /// A new buffer, alive from now on.
  int32_t add(Program& program, const Type& type);
  /// The buffer is read or written now.
  void touch(int32_t buffer);
  /// Called after each step.
  void advance() { ++now_; }
  int64_t now() const { return now_; }
  /// Everything that was alive before `begin` and was touched since lives to the end of the loop that ends now.
  void close_loop(int64_t begin);
  /// Assigns offsets and returns the bytes of the whole workspace.
  int64_t assign(Program& program) const;

 private:
  struct Life {
    int32_t buffer;
    int64_t bytes, first, last;
  };
  std::vector<Life> lives_;
  std::vector<int32_t> by_buffer_;
  int64_t now_ = 0;
};

}  // namespace calque::kernel
