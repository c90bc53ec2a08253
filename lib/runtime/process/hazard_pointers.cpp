// Records are never freed, only reused by new threads: another thread may walk the list at any time.
//
// Announcing must be ordered before reading the source again, or a freeing thread may miss the announcement of an
// object that the reader still found in the source. Either the reader executes a full fence between the two, or (an
// asymmetric fence) the freeing thread makes all running threads execute one, by membarrier(2), after it has replaced
// the pointer and before it reads the announcements.
#include "runtime/process/hazard_pointers.h"

#include <algorithm>
#include <iterator>

#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "ir/fork.h"
#include "ir/thread_end.h"

namespace calque::runtime {
namespace {

using Record = HazardRecord;

std::atomic<Record*> records{nullptr};

#if defined(__SANITIZE_THREAD__)
#define CALQUE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CALQUE_THREAD_SANITIZER 1
#endif
#endif

#if defined(__linux__) && !defined(CALQUE_THREAD_SANITIZER)  // ThreadSanitizer does not know membarrier
bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }
bool enable_asymmetric_fences() {
  const bool enabled = process_wide([] {
    return new const bool(membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
                          membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
  });
  Record::asymmetric.store(enabled, std::memory_order_relaxed);
  return enabled;
}
/// A full fence on every thread of the process that may be announcing. False if the system has stopped providing it:
/// then nothing is known to be free.
bool fence_announcing_threads() {
  if (!enable_asymmetric_fences() || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return true;
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
#else
void enable_asymmetric_fences() {}
bool fence_announcing_threads() { return true; }
#endif

Record* take_record() {
  for (Record* r = records.load(std::memory_order_acquire); r != nullptr; r = r->next) {
    bool expected = false;
    if (!r->taken.load(std::memory_order_relaxed) &&
        r->taken.compare_exchange_strong(expected, true, std::memory_order_acquire)) {
      return r;
    }
  }
  auto* fresh = new Record;
  fresh->next = records.load(std::memory_order_relaxed);
  while (!records.compare_exchange_weak(fresh->next, fresh, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return fresh;
}

}  // namespace

constinit thread_local HazardRecord* HazardRecord::mine = nullptr;
constinit std::atomic<bool> HazardRecord::asymmetric{false};

HazardRecord* HazardRecord::take() {
  enable_asymmetric_fences();
  mine = take_record();
  at_thread_end(
      [](void* record) noexcept {
        static_cast<Record*>(record)->taken.store(false, std::memory_order_release);
        mine = nullptr;
      },
      mine);
  return mine;
}

bool announced(const void* object) {
  if (!fence_announcing_threads()) return true;
  for (Record* r = records.load(std::memory_order_acquire); r != nullptr; r = r->next) {
    for (const auto& slot : r->slots) {
      if (slot.load(std::memory_order_seq_cst) == object) return true;
    }
  }
  return false;
}

void Retired::add(std::shared_ptr<const void> object) {
  objects_.push_back(std::move(object));
  reclaim();
}

std::vector<std::shared_ptr<const void>> Retired::take_free() {
  if (objects_.empty() || !fence_announcing_threads()) return {};
  std::vector<const void*> announced;
  for (Record* r = records.load(std::memory_order_acquire); r != nullptr; r = r->next) {
    for (const auto& slot : r->slots) {
      if (const void* p = slot.load(std::memory_order_seq_cst)) announced.push_back(p);
    }
  }
  const auto in_use = std::partition(objects_.begin(), objects_.end(), [&](const auto& object) {
    return std::find(announced.begin(), announced.end(), object.get()) == announced.end();
  });
  std::vector<std::shared_ptr<const void>> free(std::make_move_iterator(objects_.begin()),
                                                std::make_move_iterator(in_use));
  objects_.erase(objects_.begin(), in_use);
  return free;
}

}  // namespace calque::runtime
