// An announced object outlives its replacement; an unannounced one is freed at once.
#include "runtime/process/hazard_pointers.h"

#include <thread>

#include <gtest/gtest.h>

namespace calque::runtime {
namespace {

struct Counted {
  explicit Counted(int v) : value(v) { ++alive; }
  ~Counted() {
    value = -1;
    --alive;
  }
  int value;
  static inline std::atomic<int> alive{0};
};

TEST(Hazard, PinnedObjectOutlivesItsRetirement) {
  Retired retired;
  auto object = std::make_shared<const Counted>(7);
  std::atomic<const void*> source{object.get()};
  void* mark = nullptr;
  const auto* seen = static_cast<const Counted*>(pin(source, mark));
  ASSERT_NE(mark, nullptr);
  source = nullptr;
  retired.add(std::move(object));
  EXPECT_EQ(Counted::alive, 1);
  EXPECT_EQ(seen->value, 7);
  unpin(mark);
  retired.reclaim();
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Hazard, UnpinnedObjectIsFreedAtOnce) {
  Retired retired;
  retired.add(std::make_shared<const Counted>(1));
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Hazard, NothingIsPinnedWhereNothingIs) {
  std::atomic<const void*> source{nullptr};
  void* mark = nullptr;
  EXPECT_EQ(pin(source, mark), nullptr);
  EXPECT_EQ(mark, nullptr);
}

TEST(Hazard, PinsNestUpToALimitAndThenAreRefused) {
  const int object = 0;
  std::atomic<const void*> source{&object};
  std::vector<void*> marks;
  while (true) {
    void* mark = nullptr;
    if (pin(source, mark) == nullptr) break;
    marks.push_back(mark);
    ASSERT_LT(marks.size(), 100u);
  }
  EXPECT_GE(marks.size(), 2u);
  while (!marks.empty()) {
    unpin(marks.back());
    marks.pop_back();
  }
  void* mark = nullptr;
  EXPECT_EQ(pin(source, mark), &object);
  unpin(mark);
}

TEST(Hazard, ReadersNeverSeeAFreedObject) {
  Retired retired;
  auto current = std::make_shared<const Counted>(0);
  std::atomic<const void*> source{current.get()};
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 4; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        void* mark = nullptr;
        const auto* seen = static_cast<const Counted*>(pin(source, mark));
        EXPECT_GE(seen->value, 0);
        unpin(mark);
      }
    });
  }
  for (int i = 1; i < 2000; ++i) {
    auto next = std::make_shared<const Counted>(i);
    source.store(next.get());
    retired.add(std::exchange(current, next));
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  retired.reclaim();
  EXPECT_EQ(Counted::alive, 1);
}

}  // namespace
}  // namespace calque::runtime
