#pragma once
// Traits of a primitive's struct that say how the planner fuses it and what code generation emits for it. None has a
// default: a primitive without a trait that it needs does not compile (registration.h).
#include <array>
#include <cstdint>
#include <string_view>

namespace calque::primitives {

/// How an equation is fused.
enum class FusionKind : uint8_t {
  elementwise,  ///< one element of the result from the same element of each operand
  view,         ///< an element of the result is some element of some operand
  reduction,    ///< reduce_*, argmax, argmin
  contraction,  ///< dot_general
  anchor,       ///< determines the loops of a kernel of its own: see Anchor
  routine,      ///< a step that a library computes, from and to memory: see Routine
  loop,         ///< while, scan
  branch,       ///< cond, switch
  call,         ///< inlined before planning
  effect,       ///< debug_print, host_call
};

/// The loops of an anchor op's kernel, built in kernel/lower/: its results are the kernel's, its operands are computed
/// where it reads them. The planner knows no more of it.
enum class Anchor : uint8_t {
  cumulative,  ///< cumsum, cumprod, cummax, cummin
  scatter,     ///< updates a copy of its first operand; reads that and its indices from memory
  cholesky,    ///< factors matrices in local buffers, side by side
  permute,     ///< moves the elements of rows to distinct positions; nothing else writes the result
};

/// What the runtime computes by a library (runtime/routines/): pure functions of dense row-major arrays with any number
/// of leading batch dimensions. `flags` of a call: see RoutineFlag.
enum class Routine : uint8_t {
  cholesky,          ///< (a) gives l
  triangular_solve,  ///< (a, b) gives x
  lu,                ///< (a) gives packed, perm
  qr,                ///< (a) gives q, r
  eigh,              ///< (a) gives w, and v with vectors
  svd,               ///< (a) gives s, or u, s, vh with vectors
  eig,               ///< (a) gives w, and v with vectors, both complex: pairs if a is real
  sort,              ///< (keys...) gives the sorted keys, the permutation, or both
  fft,               ///< (x) gives its transform; complex numbers are pairs, `flags` is the FftKind
};
inline constexpr std::array<std::string_view, 9> kRoutineNames = {
    "cholesky", "triangular_solve", "lu", "qr", "eigh", "svd", "eig", "sort", "fft"};

/// Of triangular_solve; of eigh, svd and eig; of sort.
struct RoutineFlag {
  static constexpr uint32_t lower = 1, transpose = 2, unit_diagonal = 4;
  static constexpr uint32_t vectors = 1;
  static constexpr uint32_t descending = 1, values = 2, indices = 4;
};

/// The operations on scalars that code generation knows. Primitives name them, compositions use them.
enum class ScalarOp : uint8_t {
  unsupported,  ///< of complex numbers, which are split into parts before code is generated
  intrinsic,    ///< the LLVM intrinsic that the primitive names
  neg,
  abs,
  sign,
  floor,
  ceil,
  trunc,
  round,
  round_half_away,
  sqrt,
  not_,
  add,
  sub,
  mul,
  div,
  rem,
  max,
  min,
  copysign,
  and_,
  or_,
  xor_,
  shl,
  shr_arithmetic,
  shr_logical,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  fma,
  clamp,
  select,
  random_bits32,  ///< Threefry-2x32 of (key, key, counter, counter), the two words joined by xor
  random_bits64,  ///< the same, the words side by side
  convert,
  bitcast,
};

/// eq, ne, lt, le, gt and ge, whose results are bool.
constexpr bool is_comparison(ScalarOp op) { return op >= ScalarOp::eq && op <= ScalarOp::ge; }

/// The combining operation of a reduction. The arg forms have two results each: (value, index i64); the lowest index
/// wins ties, NaN wins over numbers.
enum class Combiner : uint8_t { add, mul, max, min, and_, or_, argmax, argmin };

/// The operation on two values; of the arg forms, the comparison that the new value has to pass.
constexpr ScalarOp scalar_op_of(Combiner combiner) {
  constexpr ScalarOp kOps[] = {ScalarOp::add,  ScalarOp::mul, ScalarOp::max, ScalarOp::min,
                               ScalarOp::and_, ScalarOp::or_, ScalarOp::gt,  ScalarOp::lt};
  return kOps[static_cast<int>(combiner)];
}

/// Whether the reference evaluator computes the bits of generated code, whatever order of operations the schedule
/// chooses: for no dtypes, for those that are added and multiplied exactly, or for all.
enum class DefinedBits : uint8_t { never, exact_dtypes, always };

/// max and min, and the arg forms: the result is one of the elements, or its index.
constexpr bool is_extremum(Combiner combiner) {
  return combiner == Combiner::max || combiner == Combiner::min || combiner >= Combiner::argmax;
}

}  // namespace calque::primitives
