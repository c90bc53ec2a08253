#pragma once
// Tells the watch of a compilation which kernels a module has, while code is generated for it.
#include "codegen/codegen_watch.h"
#include "codegen/llvm/llvm.h"

namespace calque::codegen {

class Watched {
 public:
  /// `watch` may be null.
  Watched(CodegenWatch* watch, const llvm::Module& module);
  ~Watched() {
    if (watch_ != nullptr) watch_->end(ticket_);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  CodegenWatch* const watch_;
  CodegenWatch::Ticket ticket_ = 0;
};

}  // namespace calque::codegen
