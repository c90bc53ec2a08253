#pragma once
// The call of a function whose previous call had the same signature: the arguments are compared with the words of that
// signature while their addresses are collected, and the compiled code runs on these. Nothing is written but the
// addresses; no lock is taken; only outputs are allocated. Any difference leads to the ordinary call.
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "calque/detail/arguments.h"

namespace calque::runtime {
struct CallEntry;
}

namespace calque::detail {

class CallResult;
class FunctionState;
class LoweredState;

/// Compares arguments with the words of a signature and collects their addresses.
class SignatureMatcher : public SignatureWords<SignatureMatcher> {
 public:
  using Addresses = StackList<void*, 24>;
  SignatureMatcher(const uint64_t* words, Addresses& addresses) : next_(words), addresses_(addresses) {}
  bool matches() const { return next_ != nullptr; }

  // ---- called by walk_tree
  static constexpr bool kPacks = true;
  template <class To, class X>
  void leaf(const X& x) {
    using T = leaf_elem_t<X>;
    if constexpr (ArrayLike<X>) {
      if (!x.has_value()) [[unlikely]]
        return fail();
      array(dtype_of<T>, x.any());
    } else if constexpr (ScalarLeaf<X>) {
      if constexpr (has_representation_of<T, X>) {
        scalar(dtype_of<T>, &x);
      } else {
        fail();
      }
    } else if constexpr (InPlace<X>) {
      view(leaf_view(x));
    } else {
      fail();
    }
  }
  void word(uint64_t w) {
    if (next_ == nullptr) return;
    if (*next_ == w) [[likely]] {
      ++next_;
    } else {
      fail();
    }
  }
  void bytes(const void* data, size_t size);

 private:
  template <class T, class X>
  static constexpr bool has_representation_of =
      std::same_as<T, X> ||
      (std::is_integral_v<T> && std::is_integral_v<X> && !std::same_as<T, bool> && !std::same_as<X, bool> &&
       sizeof(T) == sizeof(X) && std::is_signed_v<T> == std::is_signed_v<X>);

  void fail() { next_ = nullptr; }
  void array(DType dtype, const AnyArray& array) {
    const uint64_t* const words = next_;
    if (words == nullptr) return;
    void* const data = array.storage().present_on_host();
    const int rank = array.rank();
    if (data == nullptr || words[0] != (head(dtype, rank, true) | head_of_device(array.device()))) return fail();
    const int64_t* const extents = array.shape().begin();
    for (int i = 0; i < rank; ++i) {
      if (words[1 + i] != static_cast<uint64_t>(extents[i])) return fail();
    }
    next_ = words + 1 + rank;
    addresses_.push_back(data);
  }
  void scalar(DType dtype, const void* value) {
    word(head(dtype, 0, true));
    addresses_.push_back(const_cast<void*>(value));
  }
  void view(const LeafView& view);

  /// The word to be compared next; null: the arguments differ. The words before it determine how many follow, so a
  /// comparison that stops at the first difference does not run past the end.
  const uint64_t* next_;
  Addresses& addresses_;
};

/// The call of the entry that a function used last.
class WarmCall {
 public:
  /// Protects the entry that the function used last from being freed as long as this object lives. `tree` identifies
  /// the C++ types that the lambda sees.
  WarmCall(const FunctionState& function, const void* tree);
  /// The entry of a compiled function, which it keeps alive itself.
  WarmCall(const LoweredState& compiled, const void* tree);
  ~WarmCall() { release(); }
  WarmCall(const WarmCall&) = delete;
  WarmCall& operator=(const WarmCall&) = delete;

  /// Whether the arguments have the signature of the entry; collects their addresses. Call it once.
  template <class... A>
  bool matches(const A&... arguments) {
    if (words_ == nullptr) return false;
    SignatureMatcher matcher(words_, addresses_);
    (walk_tree<to_tracer_t<A>>(arguments, matcher), ...);
    return matcher.matches();
  }
  /// Runs the entry on the arguments that match. Exceptions of callbacks propagate. Throws DeviceError when out of
  /// memory.
  void run(const FunctionState& function, CallResult& result);
  /// The same for a function whose result is one array.
  AnyArray run_for_one(const FunctionState& function);
  void release() {
    if (pin_ != nullptr) unpin();
  }

 private:
  void start(uint64_t options, const void* tree);
  void unpin();

  const uint64_t* words_ = nullptr;  ///< to be compared; null: there is no entry that runs directly
  const runtime::CallEntry* entry_ = nullptr;
  void* pin_ = nullptr;
  SignatureMatcher::Addresses addresses_;
};

}  // namespace calque::detail
