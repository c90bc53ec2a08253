#pragma once
// The arguments of a call, flattened to leaves and to the words of its signature. Lives on the calling thread's stack.
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/leaf_view.h"
#include "calque/detail/signature_words.h"
#include "calque/detail/trees/leaves.h"

namespace calque::detail {

/// One leaf of the arguments and the location of its elements. Trivially copyable; refers to memory that the caller
/// keeps alive.
struct LeafRef {
  enum class Kind : uint8_t { array, view, scalar, spec };
  Kind kind = Kind::scalar;
  DType dtype = DType::f32;
  uint8_t rank = 0;
  bool dense_rows = true;            ///< row-major; else see `strides`
  const AnyArray* array = nullptr;   ///< kind array
  const void* data = nullptr;        ///< kinds array (null when it is on a device) and view
  calque::Literal bits;              ///< kind scalar
  const int64_t* extents = nullptr;  ///< kinds array and spec; views keep theirs in `dims`
  int64_t dims[4];                   ///< kind view: extents, then strides in elements

  const int64_t* shape() const { return kind == Kind::view ? dims : extents; }
  const int64_t* strides() const { return dims + 2; }
  Type type() const { return {dtype, Shape(std::span<const int64_t>(shape(), rank))}; }
};

/// A list on the stack for one call, with inline storage for N elements that starts uninitialized.
template <class T, size_t N>
class StackList {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  StackList() {}
  StackList(const StackList&) = delete;
  StackList& operator=(const StackList&) = delete;
  ~StackList() {
    if (data_ != inline_data()) ::operator delete(data_);
  }
  T& push_back(const T& value) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    return *new (data_ + size_++) T(value);
  }
  /// Appends a default-initialized element.
  T& emplace_back() {
    if (size_ == capacity_) [[unlikely]]
      grow();
    return *new (data_ + size_++) T;
  }
  size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  T& back() { return data_[size_ - 1]; }

 private:
  T* inline_data() { return reinterpret_cast<T*>(memory_); }
  [[gnu::noinline]] void grow() {
    T* more = static_cast<T*>(::operator new(2 * capacity_ * sizeof(T)));
    std::memcpy(static_cast<void*>(more), data_, size_ * sizeof(T));
    if (data_ != inline_data()) ::operator delete(data_);
    data_ = more;
    capacity_ *= 2;
  }
  alignas(T) std::byte memory_[N * sizeof(T)];
  T* data_ = inline_data();
  size_t size_ = 0, capacity_ = N;
};

/// The flattened arguments of one call.
class Arguments : public SignatureWords<Arguments> {
 public:
  /// `tree` identifies the C++ types that the lambda sees.
  template <class... A>
  explicit Arguments(const void* tree, const A&... arguments) {
    words_.push_back(reinterpret_cast<uintptr_t>(tree));
    words_.push_back(0);  // options, filled in by the call
    (add(arguments), ...);
  }

  /// Flattens the next top-level argument.
  template <class X>
  void add(const X& argument) {
    ends_.push_back(0);
    walk_tree<to_tracer_t<X>>(argument, *this);
    ends_.back() = static_cast<uint32_t>(leaves_.size());
  }

  /// Flattens an array of run-time element type as the next top-level argument.
  void add_any(const AnyArray& array) {
    if (array.empty()) {
      add_empty();
    } else {
      add_array(array);
    }
    ends_.push_back(static_cast<uint32_t>(leaves_.size()));
  }

  // ---- called by walk_tree
  static constexpr bool kPacks = true;
  template <class To, class X>
  void leaf(const X& x) {
    if constexpr (ArrayLike<X>) {
      if (!x.has_value()) [[unlikely]] {
        add_empty();
      } else {
        add_array(x.any());
      }
    } else if constexpr (ScalarLeaf<X>) {
      using T = leaf_elem_t<X>;
      add_scalar(dtype_of<T>, calque::Literal::of<T>(static_cast<T>(x)));
    } else if constexpr (is_spec<X>) {
      add_spec(dtype_of<leaf_elem_t<X>>, x.shape);
    } else if constexpr (InPlace<X>) {
      add_view(leaf_view(x));
    } else {
      add_owned(leaf_array(x));
    }
  }
  void word(uint64_t w) { words_.push_back(w); }
  void bytes(const void* data, size_t size);

  // ---- read by the runtime
  std::span<const LeafRef> leaves() const { return {leaves_.data(), leaves_.size()}; }
  std::span<const uint64_t> words() const { return {words_.data(), words_.size()}; }
  void set_options(uint64_t options) { words_[1] = options; }
  /// One past the last leaf of each top-level argument.
  std::span<const uint32_t> ends() const { return {ends_.data(), ends_.size()}; }
  bool has_empty() const { return empty_leaf_ >= 0; }
  int empty_leaf() const { return empty_leaf_; }
  bool has_spec() const { return has_spec_; }
  /// True if there is an empty array or a spec among the leaves.
  bool irregular() const { return has_spec_ || empty_leaf_ >= 0; }

  void add_array(const AnyArray& array) {
    LeafRef& leaf = next(LeafRef::Kind::array, array.dtype(), array.rank());
    leaf.array = &array;
    leaf.data = array.storage().data_on_host();
    leaf.extents = array.shape().begin();
    words_.push_back(head(leaf) | head_of_device(array.device()));
    for (int i = 0; i < leaf.rank; ++i) words_.push_back(static_cast<uint64_t>(leaf.extents[i]));
  }
  void add_scalar(DType dtype, const calque::Literal& bits) {
    LeafRef& leaf = next(LeafRef::Kind::scalar, dtype, 0);
    leaf.bits = bits;
    words_.push_back(head(leaf));
  }
  void add_spec(DType dtype, const Shape& shape);
  void add_view(const LeafView& view);
  void add_owned(AnyArray array);
  void add_empty();

 private:
  LeafRef& next(LeafRef::Kind kind, DType dtype, int rank) {
    LeafRef& leaf = leaves_.emplace_back();
    leaf.kind = kind;
    leaf.dtype = dtype;
    leaf.rank = static_cast<uint8_t>(rank);
    return leaf;
  }
  static uint64_t head(const LeafRef& leaf) { return SignatureWords::head(leaf.dtype, leaf.rank, leaf.dense_rows); }

  StackList<LeafRef, 6> leaves_;
  StackList<uint32_t, 6> ends_;
  StackList<uint64_t, 40> words_;
  std::vector<std::unique_ptr<AnyArray>> owned_;
  int empty_leaf_ = -1;
  bool has_spec_ = false;
};

}  // namespace calque::detail
