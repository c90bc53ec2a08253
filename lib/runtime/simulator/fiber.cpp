// Every switch is announced: AddressSanitizer must know which stack is in use, ThreadSanitizer which fiber runs.
#include "runtime/simulator/fiber.h"

#include <mutex>
#include <new>

#include <boost/context/detail/fcontext.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/fork.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CALQUE_FIBER_ASAN
#elif __has_feature(thread_sanitizer)
#define CALQUE_FIBER_TSAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define CALQUE_FIBER_ASAN
#elif defined(__SANITIZE_THREAD__)
#define CALQUE_FIBER_TSAN
#endif
#ifdef CALQUE_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CALQUE_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace calque::runtime {

namespace context = boost::context::detail;

namespace {

// Pages are committed on first access.
constexpr size_t kStackBytes = size_t{256} << 10;
constexpr size_t kKeptFibers = 1024;

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

// Sanitizer calls before and after a switch; empty without a sanitizer.
struct Fiber::Switch {
  static void before([[maybe_unused]] void** kept, [[maybe_unused]] const void* stack, [[maybe_unused]] size_t bytes,
                     [[maybe_unused]] void* thread) {
#ifdef CALQUE_FIBER_ASAN
    __sanitizer_start_switch_fiber(kept, stack, bytes);
#endif
#ifdef CALQUE_FIBER_TSAN
    __tsan_switch_to_fiber(thread, 0);
#endif
  }
  static void after([[maybe_unused]] void* kept, [[maybe_unused]] const void** stack, [[maybe_unused]] size_t* bytes) {
#ifdef CALQUE_FIBER_ASAN
    __sanitizer_finish_switch_fiber(kept, stack, bytes);
#endif
  }
  static void* this_thread() {
#ifdef CALQUE_FIBER_TSAN
    return __tsan_get_current_fiber();
#else
    return nullptr;
#endif
  }
  static void* new_thread() {
#ifdef CALQUE_FIBER_TSAN
    return __tsan_create_fiber(0);
#else
    return nullptr;
#endif
  }
  static void end_thread([[maybe_unused]] void* thread) {
#ifdef CALQUE_FIBER_TSAN
    if (thread) __tsan_destroy_fiber(thread);
#endif
  }
  // Dropped frames leave poisoned redzones on the stack.
  static void clean([[maybe_unused]] std::byte* stack, [[maybe_unused]] size_t bytes) {
#ifdef CALQUE_FIBER_ASAN
    __asan_unpoison_memory_region(stack, bytes);
#endif
  }
  static void run(context::transfer_t from) {
    auto* fiber = static_cast<Fiber*>(from.data);
    after(nullptr, &fiber->outer_stack_, &fiber->outer_bytes_);
    fiber->outside_ = from.fctx;
    for (;;) {
      fiber->body_(fiber->argument_);
      fiber->ended_ = true;
      fiber->pause();
    }
  }
};

Fiber::Fiber() : bytes_(kStackBytes) {
  void* map = mmap(nullptr, bytes_ + page_bytes(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  stack_ = static_cast<std::byte*>(map);
  if (mprotect(map, page_bytes(), PROT_NONE) != 0) {
    munmap(map, bytes_ + page_bytes());
    throw std::bad_alloc();
  }
}

Fiber::~Fiber() {
  if (begun_) abandon();
  Switch::end_thread(inner_thread_);
  munmap(stack_, bytes_ + page_bytes());
}

void Fiber::enter() {
  outer_thread_ = Switch::this_thread();
  void* kept = nullptr;
  Switch::before(&kept, stack_ + page_bytes(), bytes_, inner_thread_);
  const context::transfer_t back = context::jump_fcontext(inside_, this);
  Switch::after(kept, nullptr, nullptr);
  inside_ = back.fctx;
}

void Fiber::start(void (*body)(void*), void* argument) {
  body_ = body;
  argument_ = argument;
  ended_ = false;
  if (!begun_) {
    begun_ = true;
    abandoned_ = false;
    Switch::end_thread(inner_thread_);
    inner_thread_ = Switch::new_thread();
    Switch::clean(stack_ + page_bytes(), bytes_);
    inside_ = context::make_fcontext(stack_ + page_bytes() + bytes_, bytes_, Switch::run);
  }
  enter();
}

void Fiber::resume() { enter(); }

void Fiber::abandon() {
  abandoned_ = true;
  enter();
}

void Fiber::pause() {
  void* kept = nullptr;
  Switch::before(&kept, outer_stack_, outer_bytes_, outer_thread_);
  const context::transfer_t back = context::jump_fcontext(outside_, nullptr);
  Switch::after(kept, &outer_stack_, &outer_bytes_);
  outside_ = back.fctx;
  if (abandoned_) leave();
}

void Fiber::leave() {
  ended_ = true;
  begun_ = false;
  Switch::before(nullptr, outer_stack_, outer_bytes_, outer_thread_);
  context::jump_fcontext(outside_, nullptr);
  __builtin_unreachable();
}

namespace {

struct FiberPool {
  ForkMutex mutex;
  std::vector<std::unique_ptr<Fiber>> idle;
  static FiberPool& instance() {
    return process_wide([] { return new FiberPool; });
  }
};

}  // namespace

std::unique_ptr<Fiber> take_fiber() {
  FiberPool& pool = FiberPool::instance();
  {
    const std::lock_guard lock(pool.mutex);
    if (!pool.idle.empty()) {
      auto fiber = std::move(pool.idle.back());
      pool.idle.pop_back();
      return fiber;
    }
  }
  return std::make_unique<Fiber>();
}

void keep_fiber(std::unique_ptr<Fiber> fiber) {
  FiberPool& pool = FiberPool::instance();
  const std::lock_guard lock(pool.mutex);
  if (pool.idle.size() < kKeptFibers) pool.idle.push_back(std::move(fiber));
}

}  // namespace calque::runtime
