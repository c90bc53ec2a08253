#pragma once
// AnyArray is an immutable array whose element type is known at run time. Graphs hold constants as AnyArray, the
// evaluator computes with it, and Array<T> wraps it. Copies share the storage.
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

/// A device that runs computations. Comparable by value; prints as `cpu`, `gpu:0`, `gpu_sim`.
struct Device {
  /// The host, an NVIDIA GPU, or the simulator of one.
  enum class Kind : uint8_t { cpu, gpu, gpu_sim };
  Kind kind = Kind::cpu;
  int index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};
/// `cpu`, `gpu:0`, `gpu_sim`.
std::string to_string(const Device& device);
/// Prints as `to_string`.
std::ostream& operator<<(std::ostream& out, const Device& device);

/// A 128-bit hash that identifies the bytes of an array.
struct ContentHash {
  uint64_t low = 0, high = 0;
  friend auto operator<=>(const ContentHash&, const ContentHash&) = default;
};

namespace detail {

/// The source of the memory of `Storage::allocate`. Both functions may be called from any thread.
struct StorageAllocator {
  /// Returns at least `bytes` bytes, 64-byte aligned, or null when out of memory.
  void* (*allocate)(size_t bytes);
  /// Releases what `allocate(bytes)` returned.
  void (*release)(void* memory, size_t bytes) noexcept;
};

/// Makes later allocations use `allocator`, which must live as long as the program; null restores the default.
/// Ignored under CALQUE_GUARD=1.
void set_storage_allocator(const StorageAllocator* allocator);

/// A buffer in the memory of a device, released by the destructor.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// A copy of the bytes in host memory, made by the first call, which waits for the computation that writes them. The
  /// copy is valid as long as this object. May be called from any thread. Throws DeviceError.
  virtual void* host() = 0;
};

/// A reference-counted buffer. Memory allocated here is 64-byte aligned; borrowed memory keeps its owner's alignment.
class Storage {
 public:
  Storage() = default;
  /// Uninitialized host memory, 64-byte aligned. Under CALQUE_GUARD=1 an unmapped page follows the last byte, and the
  /// start has the alignment that the size allows. Throws DeviceError when out of memory.
  static Storage allocate(size_t bytes);
  /// Memory owned by the caller; `release` (may be empty) runs when the last reference is dropped.
  static Storage borrow(void* data, size_t bytes, std::function<void()> release);
  /// A buffer of which only the hash is known (a large constant of a graph text). Calling `data()` throws Error.
  static Storage absent(size_t bytes, ContentHash hash);
  /// A buffer on a device. `data()` returns its host copy.
  static Storage on_device(std::unique_ptr<DeviceMemory> memory, size_t bytes);

  Storage(const Storage& o) : block_(o.block_) { retain(); }
  Storage(Storage&& o) noexcept : block_(std::exchange(o.block_, nullptr)) {}
  Storage& operator=(Storage o) noexcept {
    std::swap(block_, o.block_);
    return *this;
  }
  ~Storage() { release(); }

  explicit operator bool() const { return block_ != nullptr; }
  /// The bytes in host memory; null for an empty storage. Throws DeviceError when the buffer was donated, Error when it
  /// is absent.
  void* data() const { return block_ ? (block_->data ? block_->data : not_here()) : nullptr; }
  /// Like `data()`, but null for a buffer on a device, which is not copied to the host.
  void* data_on_host() const {
    return block_ ? (block_->data ? block_->data : (block_->rare && block_->rare->device ? nullptr : not_here()))
                  : nullptr;
  }
  /// The bytes in host memory, or null: empty, on a device, donated or absent.
  void* present_on_host() const { return block_ ? block_->data : nullptr; }
  /// The buffer on a device; null when the bytes are in host memory or were donated.
  DeviceMemory* device_memory() const { return block_ && block_->rare ? block_->rare->device.get() : nullptr; }
  /// Size of the buffer in bytes.
  size_t bytes() const { return block_ ? block_->bytes : 0; }
  /// True when this is the only reference and the memory was allocated here, so that it may be reused in place.
  bool unique() const { return block_ && block_->owned && block_->references.load(std::memory_order_acquire) == 1; }
  /// False for borrowed memory.
  bool owned() const { return block_ && block_->owned; }
  /// True when only the hash of the bytes is known.
  bool is_absent() const { return block_ && block_->absent; }
  /// Donates this reference: the returned one replaces it, and `data()` of this one then throws with a message that
  /// quotes `to` ("argument 0 of step (model.cpp:42)"), which must live as long as the program. Other references keep
  /// the buffer. Returns an empty storage, and changes nothing, if this reference was donated before. No other thread
  /// may use this reference meanwhile.
  Storage hand_over(const char* to) const;
  /// XXH3 of the first `bytes` bytes; for absent storage the hash passed to `absent`.
  ContentHash content_hash(size_t bytes) const;
  /// True when both refer to the same buffer.
  friend bool operator==(const Storage& a, const Storage& b) { return a.block_ == b.block_; }

  struct Block;
  /// What most buffers do not have.
  struct Rare {
    const char* given_to = nullptr;        // quoted by the error after donation
    ContentHash hash;                      // when absent
    std::unique_ptr<DeviceMemory> device;  // for a buffer on a device; `data` is null then
    std::function<void()> on_release;      // of borrowed memory
  };
  /// The reference count and description of a buffer: small, since it is written and read with every output of a call.
  struct Block {
    std::atomic<uint32_t> references{1};
    bool owned = true;
    bool absent = false;
    void* data = nullptr;
    size_t bytes = 0;
    const StorageAllocator* allocator = nullptr;  // null: the default allocator, or a guarded mapping
    size_t chunk = 0;                             // bytes requested from the allocator; 0 when guarded
    std::unique_ptr<Rare> rare;
    Rare& with_rare() {
      if (!rare) rare = std::make_unique<Rare>();
      return *rare;
    }
  };

 private:
  void retain() const {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (block_ == nullptr) return;
    // The only reference needs no atomic decrement: no other thread holds one to copy.
    if (block_->references.load(std::memory_order_acquire) == 1 ||
        block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy(block_);
  }
  static void destroy(Block* block);
  /// Null for borrowed null memory, the host copy of a device buffer; throws when the bytes are absent or were donated.
  void* not_here() const;
  /// Mutable, since arguments are passed as const and donating one changes which block this refers to.
  mutable Block* block_ = nullptr;
};

}  // namespace detail

template <class T>
class Array;

/// An immutable array of run-time element type. A default-constructed array is empty: it has no storage, and its type
/// is meaningless.
class AnyArray {
 public:
  AnyArray() = default;
  /// A row-major array over `storage`, which must hold at least as many bytes as `type` needs.
  AnyArray(const Type& type, detail::Storage storage, Device device = {})
      : type_(type), storage_(std::move(storage)), device_(device) {}
  AnyArray(Type&& type, detail::Storage storage, Device device = {})
      : type_(std::move(type)), storage_(std::move(storage)), device_(device) {}
  /// Erases the static type of a typed array. (Defined with Array<T>.)
  template <Elem T>
  AnyArray(const Array<T>& array);

  /// An array of unspecified contents, to be filled through `mutable_data` before it is shared.
  static AnyArray uninitialized(const Type& type);
  /// An array of `shape` with all elements equal to `value`.
  template <Elem T>
  static AnyArray full(const Shape& shape, T value) {
    AnyArray a = uninitialized({dtype_of<T>, shape});
    T* p = static_cast<T*>(a.mutable_data());
    for (int64_t i = 0, n = shape.num_elements(); i < n; ++i) p[i] = value;
    return a;
  }
  /// An array of `shape` with a copy of the row-major `elements`.
  template <Elem T>
  static AnyArray from(std::span<const T> elements, const Shape& shape) {
    AnyArray a = uninitialized({dtype_of<T>, shape});
    std::copy(elements.begin(), elements.end(), static_cast<T*>(a.mutable_data()));
    return a;
  }

  /// True for a default-constructed array (not for one with an extent of 0).
  bool empty() const { return !storage_; }
  /// False for a constant whose graph text held only a hash: its type is known, its elements are not.
  bool has_data() const { return storage_ && !storage_.is_absent(); }
  /// Element type and shape.
  const Type& type() const { return type_; }
  /// The element type.
  DType dtype() const { return type_.dtype; }
  /// The extents.
  const Shape& shape() const { return type_.shape; }
  /// Number of dimensions.
  int rank() const { return type_.shape.rank(); }
  /// Number of elements.
  int64_t size() const { return type_.shape.num_elements(); }
  /// Size of the elements in bytes.
  size_t bytes() const { return static_cast<size_t>(size()) * size_of(type_.dtype); }
  /// The device that holds the elements.
  Device device() const { return device_; }
  /// The row-major elements in host memory. Throws DeviceError when the array was donated, Error when has_data() is
  /// false.
  const void* data() const { return storage_.data(); }
  /// `data()` as a pointer to T, which must be the element type.
  template <Elem T>
  const T* data_as() const {
    return static_cast<const T*>(storage_.data());
  }
  /// Writable elements. Only for the creator of the array, before it is shared.
  void* mutable_data() { return storage_.data(); }
  /// The memory, which copies of the array share.
  const detail::Storage& storage() const { return storage_; }

  /// The array with static element type T. Throws DTypeError when T is not the element type. (Defined with Array<T>.)
  template <Elem T>
  Array<T> as() const;

  /// Prints like NumPy; long arrays are summarized.
  friend std::ostream& operator<<(std::ostream& out, const AnyArray& array);

 private:
  Type type_;
  detail::Storage storage_;
  Device device_;
};

/// True when both have the same type and the same bits (the same hash where the bytes are absent).
bool identical(const AnyArray& a, const AnyArray& b);

}  // namespace calque
