#include "runtime/memory/workspace.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "codegen/codegen.h"
#include "ir/thread_end.h"
#include "runtime/process/environment.h"

namespace calque::runtime {
namespace {

constexpr size_t kPage = 4096;
/// Larger workspaces come from the array pool, which can be trimmed.
constexpr size_t kLargestCachedWorkspace = size_t{1} << 20;

enum class Use : uint8_t { workspace, scratch, iterations };

template <Use>
ThreadMemory& thread_memory() {
  static constinit thread_local ThreadMemory one;
  static constinit thread_local bool known = false;
  if (!known) [[unlikely]] {
    at_thread_end([](void* memory) noexcept { static_cast<ThreadMemory*>(memory)->clear(); }, &one);
    known = true;
  }
  return one;
}

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

std::atomic<size_t> largest_thread_memory{SIZE_MAX};

OutOfMemory::OutOfMemory(const char* what, size_t bytes)
    : CallFailure("the host is out of memory, " + std::to_string(bytes) + " bytes of " + what + " asked for") {}

void* ThreadMemory::get(size_t bytes) {
  const bool guard = environment().guard;
  const size_t wanted = round_up(bytes != 0 ? bytes : 1, guard ? 64 : kPage);
  const bool fits = guard ? wanted == bytes_ : wanted <= bytes_ && (bytes_ <= kLargestCached || wanted > bytes_ / 2);
  if (fits) return data_;
  clear();
  if (wanted > largest_thread_memory.load(std::memory_order_relaxed)) throw OutOfMemory("thread memory", wanted);
  storage_ = new detail::Storage(detail::Storage::allocate(guard ? wanted : wanted + kPage));
  bytes_ = wanted;
  data_ = storage_->data();
  if (!guard) {
    size_t space = wanted + kPage;
    data_ = std::align(kPage, wanted, data_, space);
  }
  return data_;
}

void ThreadMemory::clear() noexcept {
  delete storage_;
  storage_ = nullptr;
  data_ = nullptr;
  bytes_ = 0;
}

void Workspace::take(size_t bytes) {
  const size_t wanted = round_up(bytes, 64);
  try {
    if (wanted <= kLargestCachedWorkspace && !environment().guard) {
      ThreadMemory& mine = thread_memory<Use::workspace>();
      if (!mine.taken) {
        data_ = mine.get(wanted);
        mine.taken = true;
        thread_owned_ = &mine;
        return;
      }
    }
    storage_ = detail::Storage::allocate(wanted);
    data_ = storage_.data();
  } catch (const DeviceError&) {
    throw OutOfMemory("workspace", wanted);
  }
}

namespace {

void* memory_for(void* context, ThreadMemory& memory, int64_t bytes) noexcept {
  try {
    return memory.get(static_cast<size_t>(bytes));
  } catch (...) {
    if (context != nullptr) {
      // Several threads of one call may come here.
      std::atomic_ref(static_cast<codegen::ContextHeader*>(context)->failed).store(bytes, std::memory_order_relaxed);
    }
    return nullptr;
  }
}

}  // namespace

void* scratch(void* context, int64_t bytes) noexcept {
  return memory_for(context, thread_memory<Use::scratch>(), bytes);
}

void* private_memory(void* context, int64_t bytes) noexcept {
  return memory_for(context, thread_memory<Use::iterations>(), bytes);
}

}  // namespace calque::runtime
