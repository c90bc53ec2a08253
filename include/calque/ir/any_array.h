#pragma once
// AnyArray is an immutable array whose element type is known at run time: what graphs hold as constants,
// what the evaluator computes with, what Array<T> wraps. Copies share the storage.
#include <algorithm>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "calque/ir/dtype.h"
#include "calque/ir/shape.h"

namespace calque {

/// A place that computes. Value-comparable; prints as `cpu`, `gpu:0`, `gpu_sim`.
struct Device {
  enum class Kind : uint8_t { cpu, gpu, gpu_sim };
  Kind kind = Kind::cpu;
  int index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};
std::string to_string(const Device& device);
std::ostream& operator<<(std::ostream& out, const Device& device);

/// 128 bits that identify the bytes of an array.
struct ContentHash {
  uint64_t low = 0, high = 0;
  friend auto operator<=>(const ContentHash&, const ContentHash&) = default;
};

namespace detail {

/// Where the bytes of `Storage::allocate` come from. Both functions are called from any thread.
struct StorageAllocator {
  /// At least `bytes` bytes, 64-byte aligned, or null when there are none.
  void* (*allocate)(size_t bytes);
  void (*release)(void* memory, size_t bytes) noexcept;
};

/// Allocations from now on come from `allocator`, which lives as long as the program; null brings the default back.
/// Under CALQUE_GUARD=1 it is not asked.
void set_storage_allocator(const StorageAllocator* allocator);

/// Bytes in the memory of a device, which are released with the object.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// The same bytes on the host, copied by the first who asks: waits for what computes them. They live as long as the
  /// object. Called from any thread. Throws DeviceError.
  virtual void* host() = 0;
};

/// Reference-counted bytes. 64-byte aligned when allocated here; borrowed memory keeps its owner's alignment.
class Storage {
 public:
  Storage() = default;
  /// Uninitialised bytes of the host, 64-byte aligned. Under CALQUE_GUARD=1 the last byte is followed by an
  /// unmapped page (the start is then aligned as well as the size allows).
  static Storage allocate(size_t bytes);
  /// Memory of somebody else; `release` (may be empty) runs when the last reference goes.
  static Storage borrow(void* data, size_t bytes, std::function<void()> release);
  /// Bytes of which only the hash is known (a large constant of a text). Asking for `data()` is an error.
  static Storage absent(size_t bytes, ContentHash hash);
  /// Bytes on a device. `data()` gives their copy on the host.
  static Storage on_device(std::unique_ptr<DeviceMemory> memory, size_t bytes);

  Storage(const Storage& o) : block_(o.block_) { retain(); }
  Storage(Storage&& o) noexcept : block_(std::exchange(o.block_, nullptr)) {}
  Storage& operator=(Storage o) noexcept {
    std::swap(block_, o.block_);
    return *this;
  }
  ~Storage() { release(); }

  explicit operator bool() const { return block_ != nullptr; }
  /// Throws DeviceError when the bytes were given away, Error when they are absent.
  void* data() const { return block_ ? (block_->data ? block_->data : not_here()) : nullptr; }
  /// The same, but null for bytes on a device, which are not fetched.
  void* data_on_host() const {
    return block_ ? (block_->data ? block_->data : (block_->device ? nullptr : not_here())) : nullptr;
  }
  /// What holds the bytes on a device, or null: they are on the host, or were given away.
  DeviceMemory* device_memory() const { return block_ ? block_->device.get() : nullptr; }
  size_t bytes() const { return block_ ? block_->bytes : 0; }
  /// True when this is the only reference and the memory was allocated here, so that it may be reused in place.
  bool unique() const { return block_ && block_->owned && block_->references.load(std::memory_order_acquire) == 1; }
  bool owned() const { return block_ && block_->owned; }
  /// The bytes are not here, only their hash.
  bool is_absent() const { return block_ && block_->absent; }
  /// Ends the use of these bytes through any reference: `data()` then throws an error that says `to`, which lives as
  /// long as the program ("argument 0 of step (model.cpp:42)").
  void give_away(const char* to) const;
  /// The same, but the bytes go to the storage that is returned. Only for `owned()` ones that are here.
  Storage hand_over(const char* to) const;
  /// XXH3 of the first `bytes` bytes; of absent storage, the hash that it was made with.
  ContentHash content_hash(size_t bytes) const;
  friend bool operator==(const Storage& a, const Storage& b) { return a.block_ == b.block_; }

  struct Block {
    std::atomic<uint32_t> references{1};
    bool owned = true;
    bool absent = false;
    void* data = nullptr;
    const char* given_to = nullptr;  // where the bytes were given away
    size_t bytes = 0;
    ContentHash hash;                             // of absent bytes
    std::unique_ptr<DeviceMemory> device;         // of bytes on a device; `data` is null then
    const StorageAllocator* allocator = nullptr;  // null: the default one, or a guarded mapping
    size_t chunk = 0;                             // bytes that the allocator gave; 0 when guarded
    Block* home = nullptr;                        // the block that was allocated with these bytes, when not this one
    std::function<void()> on_release;
  };

 private:
  void retain() const {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (block_ == nullptr) return;
    // The only reference needs no exchange: nobody else is there to make another.
    if (block_->references.load(std::memory_order_acquire) == 1 ||
        block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy(block_);
  }
  static void destroy(Block* block);
  /// Null for borrowed nothing, a copy of what is on a device; throws for bytes that are absent or were given away.
  void* not_here() const;
  Block* block_ = nullptr;
};

}  // namespace detail

template <class T>
class Array;

/// An immutable array of run-time element type. A default-constructed one is empty: it has no elements and no type.
class AnyArray {
 public:
  AnyArray() = default;
  /// Row-major array over `storage`, which holds at least as many bytes as the type needs.
  AnyArray(const Type& type, detail::Storage storage, Device device = {})
      : type_(type), storage_(std::move(storage)), device_(device) {}
  AnyArray(Type&& type, detail::Storage storage, Device device = {})
      : type_(std::move(type)), storage_(std::move(storage)), device_(device) {}
  /// A typed array without its static type. (Defined with Array<T>.)
  template <Elem T>
  AnyArray(const Array<T>& array);

  /// Uninitialised; fill it through `mutable_data` before sharing it.
  static AnyArray uninitialized(const Type& type);
  /// A rank-0 array, or a splat of any shape.
  template <Elem T>
  static AnyArray full(const Shape& shape, T value) {
    AnyArray a = uninitialized({dtype_of<T>, shape});
    T* p = static_cast<T*>(a.mutable_data());
    for (int64_t i = 0, n = shape.num_elements(); i < n; ++i) p[i] = value;
    return a;
  }
  /// Copies row-major elements.
  template <Elem T>
  static AnyArray from(std::span<const T> elements, const Shape& shape) {
    AnyArray a = uninitialized({dtype_of<T>, shape});
    std::copy(elements.begin(), elements.end(), static_cast<T*>(a.mutable_data()));
    return a;
  }

  bool empty() const { return !storage_; }
  /// False for a constant whose text gave only a hash: it has a type, but no elements that can be read.
  bool has_data() const { return storage_ && !storage_.is_absent(); }
  const Type& type() const { return type_; }
  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  int rank() const { return type_.shape.rank(); }
  int64_t size() const { return type_.shape.num_elements(); }
  size_t bytes() const { return static_cast<size_t>(size()) * size_of(type_.dtype); }
  Device device() const { return device_; }
  const void* data() const { return storage_.data(); }
  template <Elem T>
  const T* data_as() const {
    return static_cast<const T*>(storage_.data());
  }
  /// For whoever has just made the array and not shared it yet.
  void* mutable_data() { return storage_.data(); }
  const detail::Storage& storage() const { return storage_; }

  /// The typed view. Throws DTypeError when T is not the element type. (Defined with Array<T>.)
  template <Elem T>
  Array<T> as() const;

  friend std::ostream& operator<<(std::ostream& out, const AnyArray& array);

 private:
  Type type_;
  detail::Storage storage_;
  Device device_;
};

/// Same type and the same bits (or, where the bytes are absent, the same hash).
bool identical(const AnyArray& a, const AnyArray& b);

}  // namespace calque
