#pragma once
// How a call of a wrapped function reaches the runtime: arguments are flattened to leaves and a flat signature, and the
// function state looks up the compiled form of that signature. All of this lives on the calling thread's stack: a warm
// call takes no lock and allocates nothing but its outputs.
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calque/detail/loaded_module.h"
#include "calque/detail/tree_walk.h"
#include "calque/tier.h"

namespace calque {

/// How a function is compiled and called.
struct JitOptions {
  /// The name in messages, graphs and kernels.
  std::string name{};
  /// The device to run on; absent: the device of the arguments.
  std::optional<Device> device{};
  /// Positions of arguments whose buffers the call may reuse. Using such an array again is an error.
  std::vector<int> donate{};
  /// Reassociation, reciprocals and approximate functions; no promises about NaN and infinities. Flushes subnormal
  /// numbers too.
  bool fast_math = false;
  /// Bit-identical to the reference evaluator, except for reassociated reductions and contractions.
  bool strict = false;
  /// On a GPU: results do not depend on the order of threads.
  bool deterministic = false;
  /// Subnormal operands and results of arithmetic are flushed to zero (on a GPU: those of f32). The calling thread's
  /// floating-point mode is set for the duration of the call only; host_call runs under the caller's.
  bool flush_subnormals = false;
  /// How much is optimized before the first call runs.
  calque::tier tier = calque::tier::automatic;
};

/// The numbers of calls without and with tracing, and of cached signatures.
struct CacheInfo {
  uint64_t hits = 0, misses = 0;
  size_t entries = 0;
  /// Cached signatures whose calls run quickly made code until optimized code is ready (calque::tier::automatic).
  size_t awaiting_optimization = 0;
};

namespace detail {

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
class Arguments {
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
  template <class To, class X>
  void leaf(const X& x) {
    if constexpr (ArrayLike<X>) {
      if (!x.has_value()) [[unlikely]] {
        add_empty();
      } else {
        add_array(x.any());
      }
    } else if constexpr (ScalarLeaf<X>) {
      using T = elem_t<To>;
      add_scalar(dtype_of<T>, calque::Literal::of<T>(static_cast<T>(x)));
    } else if constexpr (is_spec<X>::value) {
      add_spec(dtype_of<elem_t<To>>, x.shape);
    } else if constexpr (requires { dense<X>::view(x); }) {
      add_view(dense<X>::view(x));
    } else {
      add_owned(dense<X>::copy(x));
    }
  }
  template <class V>
  void value(const V& v) {
    if constexpr (std::is_floating_point_v<V> && sizeof(V) <= 8) {
      uint64_t bits = 0;
      std::memcpy(&bits, &v, sizeof(V));
      words_.push_back(bits);
    } else if constexpr (std::is_integral_v<V>) {
      words_.push_back(static_cast<uint64_t>(v));
    } else if constexpr (std::is_enum_v<V>) {
      words_.push_back(static_cast<uint64_t>(static_cast<std::underlying_type_t<V>>(v)));
    } else if constexpr (std::same_as<V, std::string>) {
      add_bytes(v.data(), v.size());
    } else if constexpr (std::is_floating_point_v<V> || Elem<V>) {
      add_bytes(&v, sizeof(V) > 10 && std::is_floating_point_v<V> ? 10 : sizeof(V));  // x87 pads its ten bytes
    } else if constexpr (is_optional<V>) {
      value(v.has_value());
      if (v) value(*v);
    } else if constexpr (is_map<V>) {
      value(v.size());
      for (const auto& [key, part] : v) {
        value(key);
        value(part);
      }
    } else if constexpr (container_part<V>::value) {
      value(v.size());
      for (const typename V::value_type& part : v) value(part);
    } else if constexpr (is_product<V>) {
      std::apply([this](const auto&... part) { (this->value(part), ...); }, v);
    } else {
      std::apply([this](const auto&... part) { (this->value(part), ...); }, tie_fields(v));
    }
  }
  void enter_index(size_t) {}
  template <class K>
  void enter_key(const K&) {}
  template <class X, size_t I>
  void enter_field() {}
  void leave() {}

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
    const Device device = array.device();
    words_.push_back(head(leaf) | uint64_t(device.kind) << 32 | uint64_t(device.index) << 40);
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
  static uint64_t head(const LeafRef& leaf) {
    return uint64_t(leaf.dtype) | uint64_t(leaf.rank) << 8 | uint64_t(leaf.dense_rows) << 16;
  }
  void add_bytes(const void* data, size_t size);

  StackList<LeafRef, 6> leaves_;
  StackList<uint32_t, 6> ends_;
  StackList<uint64_t, 40> words_;
  std::vector<std::unique_ptr<AnyArray>> owned_;
  int empty_leaf_ = -1;
  bool has_spec_ = false;
};

/// A result's tree of tracers, which holds its structure and static values, and the function that destroys it.
struct TracedTree {
  using Destroy = void (*)(const void* tree);
  const void* tree = nullptr;
  Destroy destroy = nullptr;
};

/// The callbacks of the calling template: run the lambda, name the leaves. Valid during the call.
struct CallSite {
  const void* context = nullptr;
  /// Runs the lambda on the inputs of a new trace, fills in the outputs and returns the result's tree.
  TracedTree (*trace)(const void* context, std::span<const Handle> inputs, std::vector<Handle>& outputs) = nullptr;
  /// Paths of the leaves of the arguments.
  std::vector<std::string> (*paths)(const void* context) = nullptr;
};

/// A list of AnyArrays with inline storage for a few.
class OutputArrays {
 public:
  OutputArrays() = default;
  OutputArrays(const OutputArrays&) = delete;
  OutputArrays& operator=(const OutputArrays&) = delete;
  ~OutputArrays() {
    for (size_t i = 0; i < size_; ++i) data_[i].~AnyArray();
    if (data_ != inline_data()) ::operator delete(data_);
  }
  void reserve(size_t count) {
    if (count <= kInline) return;
    data_ = static_cast<AnyArray*>(::operator new(count * sizeof(AnyArray)));
  }
  /// After reserve.
  template <class... A>
  AnyArray& emplace_back(A&&... a) {
    return *new (data_ + size_++) AnyArray(std::forward<A>(a)...);
  }
  size_t size() const { return size_; }
  AnyArray& operator[](size_t i) { return data_[i]; }

 private:
  static constexpr size_t kInline = 3;
  AnyArray* inline_data() { return reinterpret_cast<AnyArray*>(inline_); }
  alignas(AnyArray) std::byte inline_[kInline * sizeof(AnyArray)];
  AnyArray* data_ = inline_data();
  size_t size_ = 0;
};

/// The result of a call: the output leaves and the tree that they belong to, which it keeps alive.
class CallResult {
 public:
  CallResult() = default;
  CallResult(const CallResult&) = delete;
  CallResult& operator=(const CallResult&) = delete;
  ~CallResult() {
    if (pin_) unpin();
  }
  OutputArrays outputs;
  const void* structure = nullptr;

  // ---- for the runtime
  void set_pin(void* pin) { pin_ = pin; }
  void unpin();
  std::shared_ptr<const void> keep;

 private:
  void* pin_ = nullptr;
};

class FunctionState;
class LoweredState;

/// The state of one wrapped function: options and the table of its compiled forms. Callables with equal non-null `key`
/// compute the same and share a table while the module that contains this address is loaded (a tag of a captureless
/// lambda's type, the value of a function pointer); with null the table is not shared.
std::shared_ptr<const FunctionState> make_function_state(JitOptions options, const void* key, Location location);

/// Runs the function on data.
void call_function(const FunctionState& function, Arguments& arguments, const CallSite& site, CallResult& result);
/// Traces the function and keeps the graph for inspection or compilation.
std::shared_ptr<const LoweredState> lower_function(const std::shared_ptr<const FunctionState>& function,
                                                   Arguments& arguments, const CallSite& site);
Graph trace_function(const FunctionState& function, Arguments& arguments, const CallSite& site);
std::string explain_function(const FunctionState& function, Arguments& arguments, const CallSite& site);
CacheInfo cache_info_of(const FunctionState& function);
void clear_cache_of(const FunctionState& function);

// ---- a lowered function
const Graph& lowered_graph(const LoweredState& lowered);
std::string lowered_plan(const LoweredState& lowered);
std::string lowered_llvm_ir(const LoweredState& lowered);
std::string lowered_assembly(const LoweredState& lowered);
std::string lowered_ptx(const LoweredState& lowered);
/// Compiles now.
void compile_lowered(const LoweredState& lowered);
/// Runs the compiled form. Throws ShapeError or DTypeError when the arguments have another signature; only the site's
/// `paths` is called.
void call_lowered(const LoweredState& lowered, Arguments& arguments, const CallSite& site, CallResult& result);

/// Throws the error for the use of a moved-from function object.
[[noreturn]] void throw_moved_from(const char* what);
/// The state of a function object. Throws if the object was moved from.
template <class T>
const T& held(const std::shared_ptr<T>& state, const char* what) {
  if (state == nullptr) [[unlikely]]
    throw_moved_from(what);
  return *state;
}

template <class T>
inline constexpr char type_tag = 0;

/// The context behind CallSite for a lambda and its arguments.
template <class F, class... A>
struct CallContext {
  using Result = out_of<F, A...>;
  const F* function;
  std::tuple<const A&...> arguments;

  static TracedTree trace(const void* context, std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    const auto& self = *static_cast<const CallContext*>(context);
    using Inputs = std::tuple<to_tracer_t<A>...>;
    Inputs seen = [&]<size_t... I>(std::index_sequence<I...>) {
      return Inputs{rebuild_handles(std::get<I>(self.arguments), inputs)...};  // braces: left to right
    }(std::index_sequence_for<A...>{});
    auto result =
        traced(std::apply([&](auto&... part) { return call_traced(*self.function, std::move(part)...); }, seen));
    append_handles(result, outputs);
    using Tree = decltype(result);
    return {new Tree(std::move(result)), [](const void* tree) { delete static_cast<const Tree*>(tree); }};
  }
  static std::vector<std::string> paths(const void* context) {
    const auto& self = *static_cast<const CallContext*>(context);
    std::vector<std::string> all;
    [&]<size_t... I>(std::index_sequence<I...>) {
      (
          [&] {
            std::vector<std::string> some = leaf_paths(std::get<I>(self.arguments), "argument " + std::to_string(I));
            all.insert(all.end(), some.begin(), some.end());
          }(),
          ...);
    }(std::index_sequence_for<A...>{});
    return all;
  }
  CallSite site() const { return {this, &CallContext::trace, &CallContext::paths}; }
  /// The site of a call of a function that is compiled already.
  CallSite site_of_paths() const { return {this, nullptr, &CallContext::paths}; }
};

/// The result of a call as a tree of arrays.
template <class R>
to_array_t<R> arrays_of(CallResult& result) {
  size_t next = 0;
  auto leaf = [&]<class To>(const auto&) { return To(std::move(result.outputs[next++])); };
  return map_leaves<to_array_t<R>>(*static_cast<const to_tracer_t<R>*>(result.structure), leaf);
}

/// A unique address for argument trees of these types.
template <class... A>
inline constexpr const char* tree_tag = &type_tag<std::tuple<to_tracer_t<A>...>>;

}  // namespace detail
}  // namespace calque
