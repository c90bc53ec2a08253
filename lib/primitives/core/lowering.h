#pragma once
// The abstract emitter through which a primitive defines how ONE element of its result is computed. The kernel layer
// implements it over the kernel IR; this interface is independent of kernels, vectors and targets.
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>

#include "calque/ir/graph.h"

namespace calque::primitives {

/// A scalar expression of the kernel being built. Index expressions are of dtype i64.
struct Scalar {
  int32_t id = -1;
};

/// Emits the computation of one element. The implementation knows the equation being lowered, its graph and operands.
class Lowering {
 public:
  virtual ~Lowering() = default;
  /// The graph that holds the equation: types of operands and results, literals.
  virtual const Graph& graph() const = 0;
  /// The element of the i-th operand at `index` (one i64 expression for each dimension). Indices must be in bounds,
  /// at least wherever the enclosing `guarded` predicates hold.
  virtual Scalar operand(size_t i, std::span<const Scalar> index) = 0;
  /// An elementwise primitive on scalars, whose dtypes must satisfy the primitive's typing rule.
  virtual Scalar op(PrimitiveId primitive, DType result, std::span<const Scalar> operands) = 0;
  virtual Scalar constant(DType dtype, const Literal& value) = 0;
  virtual DType dtype(Scalar s) const = 0;
  /// `predicate ? inside() : otherwise`, where loads and divisions of `inside` happen only where the predicate holds.
  virtual Scalar guarded(Scalar predicate, const std::function<Scalar()>& inside, Scalar otherwise) = 0;

  // ---- helpers on i64 index expressions; constants are folded
  Scalar index(int64_t value) { return constant(DType::i64, Literal::of<int64_t>(value)); }
  virtual Scalar add(Scalar a, Scalar b) = 0;
  virtual Scalar sub(Scalar a, Scalar b) = 0;
  virtual Scalar mul(Scalar a, int64_t b) = 0;
  /// Floor division and remainder of a non-negative index by a positive constant.
  virtual Scalar div(Scalar a, int64_t b) = 0;
  virtual Scalar mod(Scalar a, int64_t b) = 0;
  Scalar op(PrimitiveId primitive, DType result, std::initializer_list<Scalar> operands) {
    return op(primitive, result, std::span<const Scalar>(operands.begin(), operands.size()));
  }
};

}  // namespace calque::primitives
