#pragma once
// A growing sequence whose elements never move. The chunk size is a power of two, so that indexing is a shift and a
// mask.
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace calque::detail {

/// Append-only storage with stable addresses.
template <class T>
class StablePool {
 public:
  StablePool() = default;
  StablePool(const StablePool& o) {
    chunks_.reserve(o.chunks_.size());
    for (size_t i = 0; i < o.size_; ++i) emplace_back(o[i]);
  }
  StablePool(StablePool&& o) noexcept : chunks_(std::move(o.chunks_)), size_(std::exchange(o.size_, 0)) {
    o.chunks_.clear();
  }
  StablePool& operator=(StablePool o) noexcept {
    swap(o);
    return *this;
  }
  ~StablePool() {
    for (size_t i = 0; i < size_; ++i) (*this)[i].~T();
    for (T* chunk : chunks_) std::allocator<T>().deallocate(chunk, kChunk);
  }

  size_t size() const { return size_; }
  T& operator[](size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](size_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == chunks_.size() * kChunk) {
      if (chunks_.size() == chunks_.capacity()) chunks_.reserve(2 * chunks_.size() + 1);
      chunks_.push_back(std::allocator<T>().allocate(kChunk));
    }
    T* slot = &(*this)[size_];
    ::new (static_cast<void*>(slot)) T(std::forward<Args>(args)...);
    ++size_;
    return *slot;
  }
  void swap(StablePool& o) noexcept {
    chunks_.swap(o.chunks_);
    std::swap(size_, o.size_);
  }

 private:
  static constexpr size_t kChunk = 16;
  std::vector<T*> chunks_;
  size_t size_ = 0;
};

}  // namespace calque::detail
