// Records are never freed, only reused by new threads: another thread may walk the list at any time.
#include "runtime/process/hazard_pointers.h"

#include <algorithm>
#include <iterator>

#include "ir/thread_end.h"

namespace calque::runtime {
namespace {

constexpr int kSlots = 8;

struct alignas(64) Record {
  std::atomic<const void*> slots[kSlots] = {};
  std::atomic<bool> taken{true};
  int depth = 0;  // number of announcements, of the owning thread alone
  Record* next = nullptr;
};

std::atomic<Record*> records{nullptr};

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

thread_local Record* mine = nullptr;

Record* own_record() {
  mine = take_record();
  at_thread_end(
      [](void* record) noexcept {
        static_cast<Record*>(record)->taken.store(false, std::memory_order_release);
        mine = nullptr;
      },
      mine);
  return mine;
}

}  // namespace

const void* pin(const std::atomic<const void*>& source, void*& pin) {
  const void* seen = source.load(std::memory_order_acquire);
  if (seen == nullptr) return nullptr;
  Record* record = mine != nullptr ? mine : own_record();
  if (record->depth == kSlots) return nullptr;
  std::atomic<const void*>& slot = record->slots[record->depth];
  while (true) {
    slot.store(seen, std::memory_order_seq_cst);
    const void* again = source.load(std::memory_order_seq_cst);
    if (again == seen) break;
    seen = again;
    if (seen == nullptr) {
      slot.store(nullptr, std::memory_order_release);
      return nullptr;
    }
  }
  ++record->depth;
  pin = record;
  return seen;
}

void unpin(void* pin) noexcept {
  auto* record = static_cast<Record*>(pin);
  record->slots[--record->depth].store(nullptr, std::memory_order_release);
}

bool announced(const void* object) {
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
