// A recursion has to end while it is traced: by shapes, which tracers have, and not by elements, which they do not
// have. How deep one may go depends on the frames of the user's functions, so the stack is measured.
#include "calque/detail/nested_call.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <pthread.h>

#include "calque/ir/errors.h"

namespace calque::detail {
namespace {

constinit thread_local const NestedCall* innermost_call = nullptr;

/// Where the stack has no limit, or is not that of the thread.
constexpr int kMostCalls = 100'000;

/// What is left for the frames between two calls, and for those of the operations of the innermost.
constexpr size_t kReserve = size_t{256} << 10;

struct Stack {
  const std::byte* end = nullptr;     ///< the lowest address
  const std::byte* lowest = nullptr;  ///< below it no call begins
};

Stack stack_of_thread() {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  void* end = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attributes, &end, &size) == 0) {
    stack.end = static_cast<const std::byte*>(end);
    stack.lowest = stack.end + std::min(kReserve, size / 4);
  }
  pthread_attr_destroy(&attributes);
  return stack;
}

/// False on the stack of a coroutine, which lies elsewhere.
bool stack_is_nearly_full() {
  static thread_local const Stack stack = stack_of_thread();
  const auto* const frame = static_cast<const std::byte*>(__builtin_frame_address(0));
  return std::less<>()(frame, stack.lowest) && !std::less<>()(frame, stack.end);
}

std::string title(std::string_view name) { return name.empty() ? "jit" : std::string(name); }

}  // namespace

/// The next call of the same function outwards, or null.
const NestedCall* NestedCall::previous() const {
  const NestedCall* at = caller_;
  while (at != nullptr && at->function_ != function_) at = at->caller_;
  return at;
}

std::string NestedCall::recursion() const {
  const NestedCall* const previous = this->previous();
  if (previous == nullptr) return {};
  std::vector<std::string> through;
  for (const NestedCall* at = caller_; at != previous; at = at->caller_) through.push_back(title(at->name_));
  std::ranges::reverse(through);
  constexpr size_t kListed = 3;
  std::string text = title(name_) + ": the function calls itself";
  for (size_t i = 0; i < std::min(through.size(), kListed); ++i) text += (i == 0 ? " through " : ", ") + through[i];
  if (through.size() > kListed) text += " ...";
  return text + " while it is traced, without end or too deeply (" + std::to_string(depth_) +
         " calls); tracers have shapes but no elements, so a recursion ends by shapes or static values" +
         where_text(location_);
}

NestedCall::NestedCall(const void* function, std::string_view name, const Location& location)
    : function_(function),
      name_(name),
      location_(location),
      caller_(innermost_call),
      depth_(caller_ == nullptr ? 1 : caller_->depth_ + 1) {
  if (depth_ <= kMostCalls && !stack_is_nearly_full()) [[likely]] {
    innermost_call = this;
    return;
  }
  const std::string text = recursion();
  throw CompileError(!text.empty()
                         ? text
                         : title(name_) + ": calls are nested too deeply for the stack while they are traced (" +
                               std::to_string(depth_) + " calls)" + where_text(location_));
}

NestedCall::~NestedCall() { innermost_call = caller_; }

std::string traced_function(std::string_view graph) {
  const NestedCall* const call = innermost_call;
  if (call == nullptr) return graph.empty() ? "trace" : std::string(graph);
  return title(call->name_) + (call->name_.empty() ? where_text(call->location_) : std::string());
}

std::string endless_recursion() {
  // Functions that were made anew in each call, such as derivatives, are skipped.
  for (const NestedCall* at = innermost_call; at != nullptr; at = at->caller_) {
    if (std::string text = at->recursion(); !text.empty()) return text;
  }
  return {};
}

}  // namespace calque::detail
