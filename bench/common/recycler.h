// Result memory as managed by an optimized C++ program: freed blocks are reused, so that a new result costs no page
// faults. Single-threaded.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace bench {

class Recycler {
 public:
  struct Return {
    Recycler* owner;
    size_t bytes;
    void operator()(float* block) const { owner->free_[bytes].push_back(block); }
  };
  using Block = std::unique_ptr<float, Return>;

  /// A block of `n` floats, aligned to a cache line; large ones to a huge page.
  Block get(size_t n) {
    constexpr size_t kHugePage = size_t{1} << 21;
    size_t align = n * sizeof(float) >= kHugePage ? kHugePage : 64;
    size_t bytes = (n * sizeof(float) + align - 1) / align * align;
    auto& list = free_[bytes];
    if (!list.empty()) {
      float* block = list.back();
      list.pop_back();
      return Block(block, Return{this, bytes});
    }
    void* block = std::aligned_alloc(align, bytes);
    if (block == nullptr) throw std::bad_alloc();
    if (align == kHugePage) madvise(block, bytes, MADV_HUGEPAGE);
    return Block(static_cast<float*>(block), Return{this, bytes});
  }

  Recycler() = default;
  Recycler(const Recycler&) = delete;
  Recycler& operator=(const Recycler&) = delete;
  ~Recycler() {
    for (auto& [bytes, list] : free_)
      for (float* block : list) std::free(block);
  }

 private:
  std::map<size_t, std::vector<float*>> free_;
};

/// The recycler of this process.
inline Recycler& recycler() {
  static Recycler instance;
  return instance;
}

}  // namespace bench
