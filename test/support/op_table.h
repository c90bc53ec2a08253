#pragma once
// The op table: one row for each primitive, from which tests are derived for every dtype and many shapes (typing
// against evaluation, lowering against evaluation, text round trip, compiled code against the reference, and the rules
// of transformations). A primitive without a row, or with two, does not compile.
#include "primitives/registry.h"
#include "support/op_cases.h"
#include "support/op_cases_control.h"

namespace calque::test {

/// The row of one primitive: how to apply it.
struct OpRow {
  PrimitiveId id;
  primitives::DTypeSet dtypes;  ///< dtypes of the main operand
  OpMaker make;

  const Primitive& primitive() const { return calque::primitive(id); }
};

template <class P, OpMaker Make>
constexpr OpRow row(primitives::DTypeSet dtypes) {
  return {primitives::id_of<P>, dtypes, Make};
}

namespace detail {
using namespace primitives;

inline constexpr DTypeSet kFloatMatrix = set_of(DType::f32) | set_of(DType::f64) | kComplex;

// The samples of a row depend on its position: new rows go to the end, so that those of the others stay the same.
inline constexpr OpRow kOpRows[] = {
    row<primitives::Neg, &cases::elementwise<1>>(kNumber),
    row<primitives::Abs, &cases::elementwise<1>>(kNumber),
    row<primitives::Sign, &cases::elementwise<1>>(kReal),
    row<primitives::Floor, &cases::elementwise<1>>(kReal),
    row<primitives::Ceil, &cases::elementwise<1>>(kReal),
    row<primitives::Trunc, &cases::elementwise<1>>(kReal),
    row<primitives::Round, &cases::elementwise<1>>(kReal),
    row<primitives::RoundHalfAway, &cases::elementwise<1>>(kReal),
    row<primitives::Sqrt, &cases::elementwise<1>>(kFloat),
    row<primitives::Add, &cases::elementwise<2>>(kNumber),
    row<primitives::Sub, &cases::elementwise<2>>(kNumber),
    row<primitives::Mul, &cases::elementwise<2>>(kNumber),
    row<primitives::Div, &cases::elementwise<2>>(kNumber),
    row<primitives::Rem, &cases::elementwise<2>>(kReal),
    row<primitives::Max, &cases::elementwise<2>>(kReal | kBool),
    row<primitives::Min, &cases::elementwise<2>>(kReal | kBool),
    row<primitives::Copysign, &cases::elementwise<2>>(kFloat),
    row<primitives::Fma, &cases::elementwise<3>>(kFloat),
    row<primitives::Clamp, &cases::elementwise<3>>(kReal),
    row<primitives::Pow, &cases::elementwise<2>>(kReal),
    row<primitives::Eq, &cases::elementwise<2>>(kAny),
    row<primitives::Ne, &cases::elementwise<2>>(kAny),
    row<primitives::Lt, &cases::elementwise<2>>(kReal | kBool),
    row<primitives::Le, &cases::elementwise<2>>(kReal | kBool),
    row<primitives::Gt, &cases::elementwise<2>>(kReal | kBool),
    row<primitives::Ge, &cases::elementwise<2>>(kReal | kBool),
    row<primitives::Not, &cases::elementwise<1>>(kInteger | kBool),
    row<primitives::And, &cases::elementwise<2>>(kInteger | kBool),
    row<primitives::Or, &cases::elementwise<2>>(kInteger | kBool),
    row<primitives::Xor, &cases::elementwise<2>>(kInteger | kBool),
    row<primitives::Shl, &cases::elementwise<2>>(kInteger),
    row<primitives::ShrArithmetic, &cases::elementwise<2>>(kInteger),
    row<primitives::ShrLogical, &cases::elementwise<2>>(kInteger),
    row<primitives::Popcount, &cases::elementwise<1>>(kInteger),
    row<primitives::Clz, &cases::elementwise<1>>(kInteger),
    row<primitives::Select, &cases::select>(kAny),
    row<primitives::Rsqrt, &cases::elementwise<1>>(kFloat),
    row<primitives::Cbrt, &cases::elementwise<1>>(kFloat),
    row<primitives::Exp, &cases::elementwise<1>>(kFloat),
    row<primitives::Exp2, &cases::elementwise<1>>(kFloat),
    row<primitives::Expm1, &cases::elementwise<1>>(kFloat),
    row<primitives::Log, &cases::elementwise<1>>(kFloat),
    row<primitives::Log2, &cases::elementwise<1>>(kFloat),
    row<primitives::Log10, &cases::elementwise<1>>(kFloat),
    row<primitives::Log1p, &cases::elementwise<1>>(kFloat),
    row<primitives::Sin, &cases::elementwise<1>>(kFloat),
    row<primitives::Cos, &cases::elementwise<1>>(kFloat),
    row<primitives::Tan, &cases::elementwise<1>>(kFloat),
    row<primitives::Asin, &cases::elementwise<1>>(kFloat),
    row<primitives::Acos, &cases::elementwise<1>>(kFloat),
    row<primitives::Atan, &cases::elementwise<1>>(kFloat),
    row<primitives::Sinh, &cases::elementwise<1>>(kFloat),
    row<primitives::Cosh, &cases::elementwise<1>>(kFloat),
    row<primitives::Tanh, &cases::elementwise<1>>(kFloat),
    row<primitives::Asinh, &cases::elementwise<1>>(kFloat),
    row<primitives::Acosh, &cases::elementwise<1>>(kFloat),
    row<primitives::Atanh, &cases::elementwise<1>>(kFloat),
    row<primitives::Logistic, &cases::elementwise<1>>(kFloat),
    row<primitives::Erf, &cases::elementwise<1>>(kFloat),
    row<primitives::Erfc, &cases::elementwise<1>>(kFloat),
    row<primitives::ErfInv, &cases::elementwise<1>>(kFloat),
    row<primitives::Lgamma, &cases::elementwise<1>>(kFloat),
    row<primitives::Tgamma, &cases::elementwise<1>>(kFloat),
    row<primitives::Digamma, &cases::elementwise<1>>(kFloat),
    row<primitives::Atan2, &cases::elementwise<2>>(kFloat),
    row<primitives::Hypot, &cases::elementwise<2>>(kFloat),
    row<primitives::Remainder, &cases::elementwise<2>>(kFloat),
    row<primitives::Nextafter, &cases::elementwise<2>>(kFloat),
    row<primitives::Convert, &cases::convert>(kAny),
    row<primitives::Bitcast, &cases::bitcast>(kReal),
    row<primitives::StopGradient, &cases::elementwise<1>>(kAny),
    row<primitives::Real, &cases::elementwise<1>>(kComplex),
    row<primitives::Imag, &cases::elementwise<1>>(kComplex),
    row<primitives::Conj, &cases::elementwise<1>>(kComplex),
    row<primitives::Complex, &cases::elementwise<2>>(set_of(DType::f32) | set_of(DType::f64)),
    row<primitives::Iota, &cases::iota>(kNumber),
    row<primitives::Broadcast, &cases::broadcast>(kAny),
    row<primitives::Reshape, &cases::reshape>(kAny),
    row<primitives::Transpose, &cases::transpose>(kAny),
    row<primitives::Reverse, &cases::over_axes>(kAny),
    row<primitives::Slice, &cases::slice>(kAny),
    row<primitives::Pad, &cases::pad>(kAny),
    row<primitives::Concatenate, &cases::concatenate>(kAny),
    row<primitives::DynamicSlice, &cases::dynamic_slice>(kAny),
    row<primitives::DynamicUpdateSlice, &cases::dynamic_update_slice>(kAny),
    row<primitives::Gather, &cases::gather>(kAny),
    row<primitives::Scatter, &cases::scatter>(kAny),
    row<primitives::ScatterAdd, &cases::scatter>(kNumber),
    row<primitives::ScatterMul, &cases::scatter>(kNumber),
    row<primitives::ScatterMin, &cases::scatter>(kReal | kBool),
    row<primitives::ScatterMax, &cases::scatter>(kReal | kBool),
    row<primitives::ReduceSum, &cases::over_axes>(kNumber),
    row<primitives::ReduceProd, &cases::over_axes>(kNumber),
    row<primitives::ReduceMax, &cases::over_axes>(kReal | kBool),
    row<primitives::ReduceMin, &cases::over_axes>(kReal | kBool),
    row<primitives::ReduceAnd, &cases::over_axes>(kInteger | kBool),
    row<primitives::ReduceOr, &cases::over_axes>(kInteger | kBool),
    row<primitives::Argmax, &cases::arg_reduction>(kReal | kBool),
    row<primitives::Argmin, &cases::arg_reduction>(kReal | kBool),
    row<primitives::Cumsum, &cases::cumulative>(kNumber),
    row<primitives::Cumprod, &cases::cumulative>(kNumber),
    row<primitives::Cummax, &cases::cumulative>(kReal | kBool),
    row<primitives::Cummin, &cases::cumulative>(kReal | kBool),
    row<primitives::DotGeneral, &cases::dot_general>(kAny),
    row<primitives::Cond, &cases::cond>(kAny),
    row<primitives::Switch, &cases::switch_>(kAny),
    row<primitives::While, &cases::while_>(kAny),
    row<primitives::Scan, &cases::scan>(kAny),
    row<primitives::Call, &cases::call>(kAny),
    row<primitives::Checkpoint, &cases::checkpoint>(kAny),
    row<primitives::CustomJvp, &cases::custom_jvp>(kAny),
    row<primitives::CustomVjp, &cases::custom_vjp>(kAny),
    row<primitives::CustomLinear, &cases::not_evaluated>(kAny),
    row<primitives::OptimizationBarrier, &cases::elementwise<2>>(kAny),
    row<primitives::DebugPrint, &cases::debug_print>(kAny),
    row<primitives::HostCall, &cases::host_call>(kAny),
    row<primitives::Signbit, &cases::elementwise<1>>(kReal | kBool),
    row<primitives::Diagonal, &cases::diagonal>(kAny),
    row<primitives::Sinc, &cases::elementwise<1>>(kFloat),
    row<primitives::StrongMul, &cases::elementwise<2>>(kFloat),
    row<primitives::Captured, &cases::captured>(kAny),
    row<primitives::CustomRoot, &cases::custom_root>(kFloat | kComplex),
    row<primitives::LinearSolve, &cases::linear_solve>(kFloat | kComplex),
    row<primitives::RandomBits32, &cases::elementwise<4>>(primitives::set_of(DType::u32)),
    row<primitives::RandomBits64, &cases::elementwise<4>>(primitives::set_of(DType::u32)),
    row<primitives::Cholesky, &cases::of_square_matrices>(kFloatMatrix),
    row<primitives::TriangularSolve, &cases::triangular_solve>(kFloatMatrix),
    row<primitives::Lu, &cases::of_matrices>(kFloatMatrix),
    row<primitives::LuSolve, &cases::lu_solve>(kFloatMatrix),
    row<primitives::Det, &cases::of_square_matrices>(kFloatMatrix),
    row<primitives::SlogDet, &cases::of_square_matrices>(kFloatMatrix),
    row<primitives::Qr, &cases::of_matrices>(kFloatMatrix),
    row<primitives::Trigamma, &cases::elementwise<1>>(kFloat),
    row<primitives::Erfcx, &cases::elementwise<1>>(kFloat),
    row<primitives::Ndtr, &cases::elementwise<1>>(kFloat),
    row<primitives::LogNdtr, &cases::elementwise<1>>(kFloat),
    row<primitives::Ndtri, &cases::elementwise<1>>(kFloat),
    row<primitives::I0, &cases::elementwise<1>>(kFloat),
    row<primitives::I0e, &cases::elementwise<1>>(kFloat),
    row<primitives::I1, &cases::elementwise<1>>(kFloat),
    row<primitives::I1e, &cases::elementwise<1>>(kFloat),
    row<primitives::Zeta, &cases::elementwise<2>>(kFloat),
    row<primitives::Sort, &cases::sort>(kReal | kBool),
    row<primitives::Permute, &cases::permute>(kReal | kBool),
    row<primitives::BatchedCholesky, &cases::batch_of_square_matrices>(kFloatMatrix& kReal),
    row<primitives::Eigh, &cases::spectrum<true>>(kFloatMatrix),
    row<primitives::Svd, &cases::spectrum<false>>(kFloatMatrix),
    row<primitives::Pinv, &cases::pinv>(kFloatMatrix),
    row<primitives::Eig, &cases::spectrum<true>>(kFloatMatrix),
    row<primitives::AllReduce, &cases::of_one_process<primitives::AllReduce>>(kAny),
    row<primitives::CollectiveReduce, &cases::of_one_process<primitives::CollectiveReduce>>(kAny),
    row<primitives::CollectiveBroadcast, &cases::of_one_process<primitives::CollectiveBroadcast>>(kAny),
    row<primitives::AllGather, &cases::of_one_process<primitives::AllGather>>(kAny),
    row<primitives::CollectiveGather, &cases::of_one_process<primitives::CollectiveGather>>(kAny),
    row<primitives::CollectiveScatter, &cases::of_one_process<primitives::CollectiveScatter>>(kAny),
    row<primitives::ReduceScatter, &cases::of_one_process<primitives::ReduceScatter>>(kAny),
    row<primitives::AllToAll, &cases::of_one_process<primitives::AllToAll>>(kAny),
    row<primitives::SendReceive, &cases::of_one_process<primitives::SendReceive>>(kAny),
    row<primitives::Send, &cases::not_evaluated>(kAny),
    row<primitives::Receive, &cases::not_evaluated>(kAny),
    row<primitives::CollectiveScan, &cases::of_one_process<primitives::CollectiveScan>>(kAny),
    row<primitives::Barrier, &cases::not_evaluated>(kAny),
    row<primitives::CollectivePermute, &cases::not_evaluated>(kAny),
    row<primitives::AxisIndex, &cases::not_evaluated>(kAny),
    row<primitives::Fft, &cases::fft>(kFloatMatrix),
};

template <class P>
constexpr bool has_one_row() {
  int count = 0;
  for (const OpRow& r : kOpRows) count += r.id == primitives::id_of<P> ? 1 : 0;
  return count == 1;
}
template <class P>
struct RequireRow {
  static_assert(has_one_row<P>(), "this primitive needs exactly one row in the op table (test/support/op_table.h)");
};
template <class... P>
constexpr size_t require_rows(TypeList<P...>) {
  return (sizeof(RequireRow<P>) + ...);
}
static_assert(require_rows(PrimitiveList{}) != 0);

}  // namespace detail

/// All rows.
inline std::span<const OpRow> op_table() { return detail::kOpRows; }

/// The position of a row in the table, which seeds its samples.
inline uint64_t position(const OpRow& row) { return static_cast<uint64_t>(&row - detail::kOpRows); }

/// Primitives that a pass expands or a routine computes: their rounding is not that of the reference, and any numbers
/// are no matrices that can be factored.
inline bool rounds_in_its_own_way(const OpRow& row) {
  return row.dtypes == detail::kFloatMatrix || row.id == primitives::id_of<primitives::BatchedCholesky>;
}

/// Shapes that derived tests use: ranks 0 to 4, extents 0, 1, primes and composites.
inline std::vector<Shape> op_shapes() { return {{}, {0}, {1}, {7}, {12}, {3, 4}, {5, 1, 2}, {0, 3}, {2, 3, 2, 2}}; }

/// A graph of one equation with the case's operands as inputs.
inline Graph graph_of(const OpRow& row, const OpCase& c) {
  Graph g;
  ValueList operands;
  for (const AnyArray& a : c.operands) operands.push_back(g.add_input(a.type()));
  const Equation& e = g.append(row.primitive(), operands, c.attributes, c.subgraphs);
  g.set_outputs(std::vector<Value>(e.results().begin(), e.results().end()));
  return g;
}

/// Calls `body(row, request, case)` for each row, dtype and shape, `repeats` times with different numbers.
template <class Body>
void for_each_op_case(int repeats, Body body) {
  for (const OpRow& row : op_table()) {
    Rng rng(position(row) + 1);
    for (int d = 0; d < kDTypeCount; ++d) {
      if (!primitives::contains(row.dtypes, static_cast<DType>(d))) continue;
      for (const Shape& shape : op_shapes()) {
        for (int repeat = 0; repeat < repeats; ++repeat) {
          const OpRequest request{static_cast<DType>(d), shape, Domain::any};
          if (const auto c = row.make(request, rng)) body(row, request, *c);
        }
      }
    }
  }
}

/// Selects one case in `stride` of each row, when testing all is too expensive. Counting restarts at each row: its
/// first case is selected, so no primitive is omitted, and one of every `stride` consecutive cases, so no dtype with as
/// many cases is omitted. The start of a row's count depends on the row, so that neighbouring rows use different
/// shapes.
class CaseSample {
 public:
  explicit CaseSample(int stride) : stride_(stride) {}
  /// Cases come in the order of for_each_op_case.
  bool takes(const OpRow& row) {
    if (row_ != &row) {
      row_ = &row;
      number_ = 0;
    }
    const int number = number_++;
    return number == 0 || (number + static_cast<int>(position(row))) % stride_ == 0;
  }

 private:
  int stride_, number_ = 0;
  const OpRow* row_ = nullptr;
};

}  // namespace calque::test
