#pragma once
// A separate stack on which a function runs until it pauses. Generated code cannot be unwound, so fibers never unwind:
// frames that are left on the stack when a fiber ends are dropped.
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

  /// Runs body(argument) on the fiber's stack until it pauses, returns or leaves. The previous body must have ended.
  void start(void (*body)(void* argument), void* argument);
  /// Continues after the pause. Between start and end all calls must come from one thread.
  void resume();
  /// Ends a paused body and drops its frames.
  void abandon();
  bool ended() const { return ended_; }

  /// From inside: returns to the caller of start or resume, until it is resumed.
  void pause();
  /// From inside, at any call depth: ends the body.
  [[noreturn]] void leave();

 private:
  struct Switch;
  void enter();

  std::byte* stack_ = nullptr;  ///< the lowest page is a guard page
  size_t bytes_ = 0;
  void* inside_ = nullptr;   ///< context of the fiber
  void* outside_ = nullptr;  ///< context of its caller
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool begun_ = false;  ///< the stack is in use: by a body, or by the loop that waits for the next one
  bool ended_ = true, abandoned_ = false;
  // For sanitizers.
  const void* outer_stack_ = nullptr;
  size_t outer_bytes_ = 0;
  void* inner_thread_ = nullptr;
  void* outer_thread_ = nullptr;
};

/// A process-wide pool of ended fibers. Thread-safe.
std::unique_ptr<Fiber> take_fiber();
void keep_fiber(std::unique_ptr<Fiber> fiber);

}  // namespace calque::runtime
