#pragma once
// A stack of its own on which a function runs until it pauses. Generated code has no way to unwind, so nothing is ever
// unwound: what is left on a stack when its fiber ends is dropped.
#include <cstddef>
#include <memory>
#include <vector>

namespace calque::runtime {

class Fiber {
 public:
  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// Runs body(argument) on the fiber's stack until it pauses, returns or leaves. The one before must have ended.
  void start(void (*body)(void* argument), void* argument);
  /// Goes on where it paused. Between start and end all calls come from one thread.
  void resume();
  /// Ends what has paused, and drops it.
  void abandon();
  bool ended() const { return ended_; }

  /// From inside: back to who started or resumed it, until it is resumed.
  void pause();
  /// From inside: the same for good, from whatever depth.
  [[noreturn]] void leave();

 private:
  struct Switch;
  void enter();

  std::byte* stack_ = nullptr;  ///< the lowest page cannot be touched
  size_t bytes_ = 0;
  void* inside_ = nullptr;   ///< where the fiber goes on
  void* outside_ = nullptr;  ///< where who runs it goes on
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool begun_ = false;  ///< there is something on the stack: a body, or what waits for the next one
  bool ended_ = true, abandoned_ = false;
  // What sanitizers are told.
  const void* outer_stack_ = nullptr;
  size_t outer_bytes_ = 0;
  void* inner_thread_ = nullptr;
  void* outer_thread_ = nullptr;
};

/// Ended fibers, kept by the process for the next who needs some. Any thread.
std::unique_ptr<Fiber> take_fiber();
void keep_fiber(std::unique_ptr<Fiber> fiber);

}  // namespace calque::runtime
