#pragma once
// A program whose objects are linked into the process.
#include <vector>

#include "codegen/codegen.h"
#include "codegen/jit/session.h"

namespace calque::codegen {

class LinkedProgram final : public CompiledProgram {
 public:
  /// `scalar`: the entry is a scalar one.
  LinkedProgram(std::vector<Object> objects, bool scalar, bool quick, Session& session,
                const Session::Libraries& libraries);
  Entry entry() const override { return entry_; }
  const void* scalar_entry() const override { return scalar_entry_; }
  bool is_quick() const override { return quick_; }
  size_t bytes() const override { return bytes_; }

 private:
  size_t bytes_;
  bool quick_;
  Linked linked_;
  Entry entry_ = nullptr;
  const void* scalar_entry_ = nullptr;
};

}  // namespace calque::codegen
