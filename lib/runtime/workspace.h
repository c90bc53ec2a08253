#pragma once
// Scratch memory for one call of an entry, kept by the thread between calls.
#include <cstddef>

#include "calque/ir/any_array.h"

namespace calque::runtime {

/// 64-byte aligned bytes until the end of the scope. A call inside a call (from a host function) gets memory of its
/// own.
class Workspace {
 public:
  explicit Workspace(int64_t bytes);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  bool thread_owned_ = false;
  detail::Storage storage_;
};

}  // namespace calque::runtime
