// Destructors of pthread keys run after those of thread-local objects, and again as long as they set the key anew. The
// memory of thread-local variables stays valid until then.
#include "ir/thread_end.h"

#include <new>

#include <pthread.h>

#include "ir/fork.h"

namespace calque {
namespace {

struct Cleanup {
  void (*clean)(void*) noexcept;
  void* object;
  Cleanup* next;
};

void run_cleanups(void* first) {
  for (auto* at = static_cast<Cleanup*>(first); at != nullptr;) {
    at->clean(at->object);
    delete std::exchange(at, at->next);
  }
}

pthread_key_t key() {
  return process_wide([] {
    pthread_key_t k;
    if (pthread_key_create(&k, &run_cleanups) != 0) throw std::bad_alloc();
    return new const pthread_key_t(k);
  });
}

}  // namespace

void at_thread_end(void (*clean)(void*) noexcept, void* object) {
  const pthread_key_t k = key();
  auto* cleanup = new Cleanup{clean, object, static_cast<Cleanup*>(pthread_getspecific(k))};
  pthread_setspecific(k, cleanup);
}

}  // namespace calque
