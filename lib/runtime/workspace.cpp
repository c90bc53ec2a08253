#include "runtime/workspace.h"

#include <cstdlib>

#include "calque/ir/errors.h"

#include "runtime/environment.h"

namespace calque::runtime {
namespace {

/// Larger workspaces come from the pool of arrays, which is trimmed.
constexpr size_t kKept = size_t{1} << 20;

struct Scratch {
  void* data = nullptr;
  size_t bytes = 0;
  bool taken = false;
};

/// The memory goes with the thread, what is known of it stays: kernels may still run while static objects are
/// destroyed.
Scratch& scratch() {
  static thread_local Scratch one;
  struct Cleaner {
    Scratch* scratch;
    ~Cleaner() {
      std::free(scratch->data);
      *scratch = {};
    }
  };
  static thread_local const Cleaner cleaner{&one};
  return *cleaner.scratch;
}

}  // namespace

Workspace::Workspace(int64_t bytes) {
  if (bytes == 0) return;
  const auto wanted = (static_cast<size_t>(bytes) + 63) / 64 * 64;
  if (wanted <= kKept && !environment().guard) {
    Scratch& mine = scratch();
    if (!mine.taken) {
      if (mine.bytes < wanted) {
        void* fresh = std::aligned_alloc(64, wanted);
        if (fresh == nullptr) throw DeviceError("workspace: the host is out of memory");
        std::free(mine.data);
        mine.data = fresh;
        mine.bytes = wanted;
      }
      mine.taken = true;
      thread_owned_ = true;
      data_ = mine.data;
      return;
    }
  }
  storage_ = detail::Storage::allocate(wanted);
  data_ = storage_.data();
}

Workspace::~Workspace() {
  if (thread_owned_) scratch().taken = false;
}

}  // namespace calque::runtime
