// Ranks that are threads of the test: each has a ProcessGroup of its own, and a call waits for those of all others.
#pragma once

#include <atomic>
#include <barrier>
#include <complex>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "collectives/communicate.h"
#include "reference/evaluate.h"
#include "support/native.h"

namespace calque::test {

/// How two arrays differ; empty if their bits are equal.
template <class A, class B>
std::string unlike(const A& a, const B& b) {
  return difference(a.any(), b.any());
}

/// What the ranks share.
class Rendezvous {
 public:
  explicit Rendezvous(int64_t ranks) : slots(static_cast<size_t>(ranks)), barrier_(ranks) {}
  /// Throws Error when a rank has failed.
  void wait() {
    barrier_.arrive_and_wait();
    if (failed_) throw Error("another rank has failed");
  }
  /// Instead of waiting, by a rank that has failed: the others need not wait for it. True for the first one.
  bool fail() {
    const bool first = !failed_.exchange(true);
    barrier_.arrive_and_drop();
    return first;
  }
  struct Slot {
    CollectiveCall call;
    const void* operand = nullptr;
  };
  std::vector<Slot> slots;

 private:
  std::barrier<> barrier_;
  std::atomic<bool> failed_ = false;
};

class ThreadRank final : public ProcessGroup {
 public:
  ThreadRank(std::shared_ptr<Rendezvous> rendezvous, int64_t rank)
      : ProcessGroup("threads", static_cast<int64_t>(rendezvous->slots.size()), rank),
        rendezvous_(std::move(rendezvous)) {}

  void run(const CollectiveCall& call, const void* operand, void* result) const override {
    rendezvous_->slots[static_cast<size_t>(rank())] = {call, operand};
    rendezvous_->wait();
    const AnyArray mine = result_of(call);
    rendezvous_->wait();  // operands are read
    ASSERT_EQ(mine.type(), call.result);
    if (mine.bytes() != 0) std::memcpy(result, mine.data(), mine.bytes());
  }

 private:
  AnyArray operand_of(int64_t rank) const {
    const Rendezvous::Slot& slot = rendezvous_->slots[static_cast<size_t>(rank)];
    AnyArray copy = AnyArray::uninitialized(slot.call.operand);
    if (copy.bytes() != 0) std::memcpy(copy.mutable_data(), slot.operand, copy.bytes());
    return copy;
  }
  AnyArray zeros(const Type& type) const {
    AnyArray array = AnyArray::uninitialized(type);
    if (array.bytes() != 0) std::memset(array.mutable_data(), 0, array.bytes());
    return array;
  }
  AnyArray result_of(const CollectiveCall& call) const;

  std::shared_ptr<Rendezvous> rendezvous_;
};

/// f(group) on a thread for each rank; what the ranks return, in order.
template <class F>
auto on_ranks(int64_t count, const F& f) {
  using R = decltype(f(std::shared_ptr<const ProcessGroup>()));
  const auto rendezvous = std::make_shared<Rendezvous>(count);
  std::vector<R> results(static_cast<size_t>(count));
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  for (int64_t r = 0; r < count; ++r) {
    threads.emplace_back([&, r] {
      try {
        results[static_cast<size_t>(r)] = f(std::make_shared<const ThreadRank>(rendezvous, r));
      } catch (...) {
        if (rendezvous->fail()) failure = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return results;
}

}  // namespace calque::test
