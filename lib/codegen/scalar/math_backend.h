#pragma once
// The lanes of lib/math as values of LLVM IR. Declares only llvm::Value: the functions of lib/math are instantiated
// without LLVM's headers.
//
// One source generates two bodies of a function. The common body omits cold paths and records their masks: its result
// is correct in lanes in which no mask is set. The general body evaluates both paths and selects, and is correct in all
// lanes. Lanes in which no mask is set have the same bits in both bodies.
#include <functional>
#include <initializer_list>
#include <vector>

#include "calque/ir/graph.h"

#include "codegen/scalar/scalar_op.h"
#include "math/emulated_fma.h"
#include "math/lane.h"

namespace llvm {
class Value;
}

namespace calque::codegen {

/// Appends the instructions of the lanes of this thread.
class MathBuilder {
 public:
  using V = llvm::Value*;
  using Values = std::vector<V>;

  MathBuilder(bool fused, bool general);
  MathBuilder(const MathBuilder&) = delete;
  MathBuilder& operator=(const MathBuilder&) = delete;
  virtual ~MathBuilder();
  static MathBuilder& current();

  virtual V constant(DType dtype, const Literal& value) = 0;
  /// `dtype` is that of the operands (of the last one, for select). Arithmetic is rounded as written in every mode,
  /// unless it is `approximate`.
  virtual V emit(ScalarOp op, DType dtype, std::initializer_list<V> operands, bool approximate = false) = 0;
  virtual V bitcast(V v, DType to) = 0;
  virtual V convert(V v, DType from, DType to) = 0;
  /// An element of a table of static storage for each lane.
  virtual V lookup(const void* table, size_t count, DType element, V index) = 0;
  /// while (condition(carry)) carry = body(carry), independently for each lane. Neither function has cold paths.
  virtual Values loop(const Values& initial, const std::function<V(const Values&)>& condition,
                      const std::function<Values(const Values&)>& body) = 0;

  /// The target has fused multiply-add.
  bool fused() const { return fused_; }
  /// The general body is being built.
  bool general() const { return general_; }
  void add_cold_mask(V mask) { cold_masks_.push_back(mask); }
  const Values& cold_masks() const { return cold_masks_; }

 private:
  MathBuilder* outer_;
  bool fused_, general_;
  Values cold_masks_;
};

struct LlvmBackend {
  template <class T>
  using Value = llvm::Value*;
  using V = llvm::Value*;

  static MathBuilder& here() { return MathBuilder::current(); }

  template <class T>
  static V constant(T c) {
    return here().constant(dtype_of<T>, Literal::of<T>(c));
  }
#define CALQUE_OPERATION(name, op)                      \
  template <class T, class... Operands>                 \
  static V name(Operands... operands) {                 \
    return here().emit(op, dtype_of<T>, {operands...}); \
  }
  CALQUE_OPERATION(add, ScalarOp::add)
  CALQUE_OPERATION(sub, ScalarOp::sub)
  CALQUE_OPERATION(mul, ScalarOp::mul)
  CALQUE_OPERATION(div, ScalarOp::div)
  CALQUE_OPERATION(neg, ScalarOp::neg)
  CALQUE_OPERATION(sqrt, ScalarOp::sqrt)
  CALQUE_OPERATION(abs, ScalarOp::abs)
  CALQUE_OPERATION(floor, ScalarOp::floor)
  CALQUE_OPERATION(trunc, ScalarOp::trunc)
  CALQUE_OPERATION(rint, ScalarOp::round)
  CALQUE_OPERATION(bit_and, ScalarOp::and_)
  CALQUE_OPERATION(bit_or, ScalarOp::or_)
  CALQUE_OPERATION(bit_xor, ScalarOp::xor_)
  CALQUE_OPERATION(bit_not, ScalarOp::not_)
  CALQUE_OPERATION(shift_left, ScalarOp::shl)
  CALQUE_OPERATION(shift_right, std::is_signed_v<T> ? ScalarOp::shr_arithmetic : ScalarOp::shr_logical)
  CALQUE_OPERATION(eq, ScalarOp::eq)
  CALQUE_OPERATION(ne, ScalarOp::ne)
  CALQUE_OPERATION(lt, ScalarOp::lt)
  CALQUE_OPERATION(le, ScalarOp::le)
  CALQUE_OPERATION(gt, ScalarOp::gt)
  CALQUE_OPERATION(ge, ScalarOp::ge)
  CALQUE_OPERATION(select, ScalarOp::select)
#undef CALQUE_OPERATION

  template <class T>
  static V fma(V a, V b, V c) {
    using F = math::Lane<T, LlvmBackend>;
    if (here().fused()) return here().emit(ScalarOp::fma, dtype_of<T>, {a, b, c});
    return emulated_fma(F::from_raw(a), F::from_raw(b), F::from_raw(c)).raw();
  }
  template <class T>
  static V multiply_add(V a, V b, V c) {
    return here().fused() ? fma<T>(a, b, c) : add<T>(mul<T>(a, b), c);
  }
  template <class T>
  static V product_error(V a, V b, V p) {
    using F = math::Lane<T, LlvmBackend>;
    if (here().fused()) return fma<T>(a, b, neg<T>(p));
    return emulated_product_error(F::from_raw(a), F::from_raw(b), F::from_raw(p)).raw();
  }
  template <class To, class From>
  static V bitcast(V a) {
    return here().bitcast(a, dtype_of<To>);
  }
  template <class To, class From>
  static V convert(V a) {
    return here().convert(a, dtype_of<From>, dtype_of<To>);
  }
  template <class T, std::size_t N, class Index>
  static V lookup(const std::array<T, N>& table, V i) {
    return here().lookup(table.data(), N, dtype_of<T>, i);
  }

  template <class Mask, class... Out, class Slow, class... In>
  static std::tuple<Out...> with_cold_path(const Mask& mask, const std::tuple<Out...>& fast, Slow slow,
                                           const In&... inputs) {
    if (!here().general()) {
      here().add_cold_mask(mask.raw());
      return fast;
    }
    const std::tuple<Out...> instead = slow(inputs...);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Out...>{where(mask, std::get<I>(instead), std::get<I>(fast))...};
    }(std::index_sequence_for<Out...>{});
  }

  template <class Cond, class Body, class... Carry>
  static std::tuple<Carry...> while_lanes(Cond cond, Body body, const Carry&... initial) {
    const auto lanes = [](const MathBuilder::Values& v) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple<Carry...>{Carry::from_raw(v[I])...};
      }(std::index_sequence_for<Carry...>{});
    };
    const auto next = [&](const MathBuilder::Values& v) {
      return std::apply([](const auto&... carry) { return MathBuilder::Values{carry.raw()...}; },
                        std::tuple<Carry...>(std::apply(body, lanes(v))));
    };
    const auto holds = [&](const MathBuilder::Values& v) { return std::apply(cond, lanes(v)).raw(); };
    return lanes(here().loop({initial.raw()...}, holds, next));
  }
};

}  // namespace calque::codegen

/// Short forms divide and take roots as fast as fast_math allows; other forms depend on their rounding.
template <>
struct calque::math::Fast<calque::codegen::LlvmBackend> : calque::codegen::LlvmBackend {
  using Approximate = void;
  template <class T>
  static V div(V a, V b) {
    return here().emit(codegen::ScalarOp::div, dtype_of<T>, {a, b}, true);
  }
  template <class T>
  static V sqrt(V a) {
    return here().emit(codegen::ScalarOp::sqrt, dtype_of<T>, {a}, true);
  }
};

namespace calque::codegen {

/// Appends a function of lib/math on f32, f64 or integers with this thread's MathBuilder; y is x for functions of one
/// operand.
llvm::Value* append_f32(PrimitiveId id, bool fast_math, llvm::Value* x, llvm::Value* y);
llvm::Value* append_f64(PrimitiveId id, bool fast_math, llvm::Value* x, llvm::Value* y);
llvm::Value* append_integer_power(DType dtype, llvm::Value* x, llvm::Value* n);
/// Appends nextafter of 16-bit floats, from the values of the operands in f32 and their bits.
llvm::Value* append_nextafter_of_half(DType half, llvm::Value* x, llvm::Value* y, llvm::Value* x_bits,
                                      llvm::Value* y_bits);

}  // namespace calque::codegen
