// A group of one whose calls are made when they are completed: what reads a result too early reads garbage, and what
// writes the operand too early changes the result.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/thread_ranks.h"

namespace calque::test {

class Late final : public ProcessGroup {
 public:
  Late() : ProcessGroup("late", 1, 0) {}

  void run(const CollectiveCall& call, const void* operand, void* result) const override {
    calls += "run ";
    aliased += operand == result ? 1 : 0;
    if (operand != result) std::memcpy(result, operand, bytes_of(call));
  }

  std::unique_ptr<Pending> start(const CollectiveCall& call, const void* operand, void* result) const override {
    calls += "start ";
    aliased += operand == result ? 1 : 0;
    return std::make_unique<Call>(*this, bytes_of(call), operand, result);
  }

  mutable std::string calls;
  mutable int aliased = 0;  ///< calls whose result was in the memory of the operand

 private:
  class Call final : public Pending {
   public:
    Call(const Late& group, size_t bytes, const void* operand, void* result)
        : group_(group), bytes_(bytes), operand_(operand), result_(static_cast<char*>(result)) {
      const auto* const from = static_cast<const char*>(operand);
      if (operand == result) kept_.assign(from, from + bytes);
      std::memset(result, kGarbage, bytes);
    }
    void finish() override {
      group_.calls += "finish ";
      for (size_t i = 0; i < bytes_; ++i)
        if (result_[i] != kGarbage) throw Error("the result was written to before the call was complete");
      std::memcpy(result_, kept_.empty() ? operand_ : kept_.data(), bytes_);
    }

   private:
    static constexpr char kGarbage = 0x7f;
    const Late& group_;
    size_t bytes_;
    const void* operand_;
    char* result_;
    std::vector<char> kept_;  ///< the operand if the result replaces it
  };

  static size_t bytes_of(const CollectiveCall& call) {
    return static_cast<size_t>(call.result.shape.num_elements()) * size_of(call.result.dtype);
  }
};

}  // namespace calque::test
