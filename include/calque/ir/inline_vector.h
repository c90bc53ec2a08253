#pragma once
// A vector of trivially copyable elements that stores up to N inline: types, operands and shapes are almost always
// short, and tracing must not allocate for them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace calque::detail {

/// Like std::vector, with inline storage for N elements.
template <class T, size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() = default;
  InlineVector(std::initializer_list<T> items) { append(items.begin(), items.size()); }
  InlineVector(std::span<const T> items) { append(items.data(), items.size()); }
  InlineVector(const std::vector<T>& items) { append(items.data(), items.size()); }
  InlineVector(size_t count, T value) { resize(count, value); }
  InlineVector(const InlineVector& o) {
    if (o.size_ > N) {
      append(o.data(), o.size());
    } else {  // copies the whole inline storage: a fixed size is a few moves
      size_ = o.size_;
      std::memcpy(memory_, o.data(), N * sizeof(T));
    }
  }
  InlineVector(InlineVector&& o) noexcept { take(o); }
  InlineVector& operator=(const InlineVector& o) {
    if (this != &o) {
      size_ = 0;
      append(o.data(), o.size());
    }
    return *this;
  }
  InlineVector& operator=(InlineVector&& o) noexcept {
    if (this != &o) {
      release();
      take(o);
    }
    return *this;
  }
  ~InlineVector() { release(); }

  T* data() { return capacity_ > N ? heap() : reinterpret_cast<T*>(memory_); }
  const T* data() const { return capacity_ > N ? heap() : reinterpret_cast<const T*>(memory_); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    capacity = std::max<size_t>(capacity, size_t{2} * capacity_);
    T* fresh = static_cast<T*>(::operator new(capacity * sizeof(T)));
    if (size_ != 0) std::memcpy(static_cast<void*>(fresh), data(), size_ * sizeof(T));
    if (capacity_ > N) ::operator delete(heap());
    std::memcpy(memory_, &fresh, sizeof fresh);
    capacity_ = static_cast<uint32_t>(capacity);
  }
  void push_back(T value) {
    reserve(size_ + size_t{1});
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(size_t count, T value = T{}) {
    reserve(count);
    for (size_t i = size_; i < count; ++i) data()[i] = value;
    size_ = static_cast<uint32_t>(count);
  }
  void insert(size_t position, T value) {
    push_back(value);
    std::rotate(begin() + position, end() - 1, end());
  }
  void erase(size_t position) {
    std::copy(begin() + position + 1, end(), begin() + position);
    --size_;
  }
  operator std::span<const T>() const { return {data(), size_}; }
  operator std::vector<T>() const { return std::vector<T>(begin(), end()); }
  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void append(const T* items, size_t count) {
    reserve(size_ + count);
    if (count != 0) std::memcpy(static_cast<void*>(data() + size_), items, count * sizeof(T));
    size_ += static_cast<uint32_t>(count);
  }
  void release() {
    if (capacity_ > N) ::operator delete(heap());
    capacity_ = N;
    size_ = 0;
  }
  void take(InlineVector& o) {
    size_ = std::exchange(o.size_, 0);
    capacity_ = std::exchange(o.capacity_, static_cast<uint32_t>(N));
    std::memcpy(memory_, o.memory_, sizeof memory_);
  }
  T* heap() const {
    T* pointer;
    std::memcpy(&pointer, memory_, sizeof pointer);
    return pointer;
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  /// The elements, or the address of the heap buffer when the capacity exceeds N.
  alignas(std::max(alignof(T), alignof(T*))) std::byte memory_[std::max(N * sizeof(T), sizeof(T*))] = {};
};

}  // namespace calque::detail
