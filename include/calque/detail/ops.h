#pragma once
// The type-erased version of every named function. Operands of any dtype promote by the lattice (literals are weak) and
// broadcast as in NumPy; the result is a value of the innermost trace, of the dtype that the public templates compute
// from the C++ types of their arguments (calque/detail/promotion.h). Errors (ShapeError, DTypeError, ParseError) start
// with the public name and end with the user's line. For semantics see the docstrings of the public templates.
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "calque/detail/axes.h"
#include "calque/detail/trace.h"
#include "calque/ir/collectives.h"
#include "calque/ir/host_function.h"

namespace calque::detail::ops {

// ---- elementwise, one and two operands
#define CALQUE_UNARY_BY_HAND(f, result) Handle f(const Operand& x, Location at);
#define CALQUE_UNARY(f, result, rule, Primitive) CALQUE_UNARY_BY_HAND(f, result)
#define CALQUE_BINARY_BY_HAND(f, result) Handle f(const Operand& x, const Operand& y, Location at);
#define CALQUE_BINARY(f, result, rule, Primitive) CALQUE_BINARY_BY_HAND(f, result)
#include "calque/elementwise.def"
// clang-format off
// Of operators.
#define CALQUE_UNARY_OPERATOR_FUNCTIONS(X) X(negative) X(bitwise_not) X(logical_not)
#define CALQUE_BINARY_OPERATOR_FUNCTIONS(X) \
  X(add) X(subtract) X(multiply) X(divide) X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(left_shift) X(right_shift) \
  X(equal) X(not_equal) X(less) X(less_equal) X(greater) X(greater_equal) X(logical_and) X(logical_or)
// clang-format on
#define CALQUE_X(f) Handle f(const Operand& x, Location at);
CALQUE_UNARY_OPERATOR_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
#define CALQUE_X(f) Handle f(const Operand& x, const Operand& y, Location at);
CALQUE_BINARY_OPERATOR_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
/// FP_NAN and so on, of i32.
Handle fpclassify(const Operand& x, Location at);
/// x * 2^exponent, of x's dtype (f32 for integers); the exponent is an integer.
Handle ldexp(const Operand& x, const Operand& exponent, Location at);
/// The derivative of digamma of order n.
Handle polygamma(int64_t n, const Operand& x, Location at);

// ---- elementwise, three operands
Handle betainc(const Operand& a, const Operand& b, const Operand& x, Location at);
Handle fma(const Operand& x, const Operand& y, const Operand& z, Location at);
Handle hypot3(const Operand& x, const Operand& y, const Operand& z, Location at);
Handle lerp(const Operand& a, const Operand& b, const Operand& t, Location at);
Handle where(const Operand& condition, const Operand& x, const Operand& y, Location at);
/// Of x's dtype; the bounds must promote to it.
Handle clip(const Operand& x, const Operand& low, const Operand& high, Location at);

// ---- casts
Handle cast(const Operand& x, DType dtype, Location at);
Handle bitcast(const Operand& x, DType dtype, Location at);

// ---- reductions
#define CALQUE_REDUCTION(X) X(sum) X(prod) X(mean) X(var) X(stddev) X(amax) X(amin) X(norm) X(logsumexp) X(all) X(any)
#define CALQUE_X(f) Handle f(const Operand& x, const Axes& axes, bool keepdims, Location at);
CALQUE_REDUCTION(CALQUE_X)
#undef CALQUE_X
// ---- along one axis: argmax and argmin give i32 without the axis, the others keep the shape
#define CALQUE_ALONG_AXIS(X) X(argmax) X(argmin) X(cumsum) X(cumprod) X(cummax) X(cummin) X(softmax) X(log_softmax)
#define CALQUE_X(f) Handle f(const Operand& x, int axis, Location at);
CALQUE_ALONG_AXIS(CALQUE_X)
#undef CALQUE_X
Handle layer_norm(const Operand& x, int axis, double eps, Location at);
Handle layer_norm(const Operand& x, const Operand& gamma, const Operand& beta, int axis, double eps, Location at);

// ---- shapes
Handle reshape(const Operand& x, std::span<const int64_t> shape, Location at);
Handle transpose(const Operand& x, Location at);
Handle transpose(const Operand& x, std::span<const int> perm, Location at);
Handle broadcast_to(const Operand& x, const Shape& shape, Location at);
/// `axes`: positions of the new dimensions in the result.
Handle expand_dims(const Operand& x, std::span<const int> axes, Location at);
/// All axes: every dimension of extent 1.
Handle squeeze(const Operand& x, const Axes& axes, Location at);
Handle flip(const Operand& x, const Axes& axes, Location at);
/// `interior` may be empty.
Handle pad(const Operand& x, const Operand& value, std::span<const int64_t> low, std::span<const int64_t> high,
           std::span<const int64_t> interior, Location at);
Handle concatenate(std::span<const Operand> xs, int axis, Location at);
Handle stack(std::span<const Operand> xs, int axis, Location at);
std::vector<Handle> split(const Operand& x, int64_t sections, int axis, Location at);
std::vector<Handle> split_at(const Operand& x, std::span<const int64_t> indices, int axis, Location at);
Handle tile(const Operand& x, std::span<const int64_t> repetitions, Location at);
Handle repeat(const Operand& x, int64_t count, int axis, Location at);
Handle roll(const Operand& x, int64_t shift, int axis, Location at);
Handle diagonal(const Operand& x, int64_t offset, int axis1, int axis2, Location at);
/// The sum of a diagonal, in the dtype of `sum`.
Handle trace(const Operand& x, int64_t offset, int axis1, int axis2, Location at);

// ---- matrices
Handle diag(const Operand& x, int64_t k, Location at);
Handle tril(const Operand& x, int64_t k, Location at);
Handle triu(const Operand& x, int64_t k, Location at);
/// Without a number of columns: the size of x.
Handle vander(const Operand& x, std::optional<int64_t> columns, bool increasing, Location at);
Handle toeplitz(const Operand& column, Location at);
Handle toeplitz(const Operand& column, const Operand& row, Location at);
Handle block_diag(std::span<const Operand> xs, Location at);

// ---- contractions
Handle matmul(const Operand& a, const Operand& b, Location at);
Handle dot(const Operand& a, const Operand& b, Location at);
Handle outer(const Operand& a, const Operand& b, Location at);
Handle inner(const Operand& a, const Operand& b, Location at);
Handle vdot(const Operand& a, const Operand& b, Location at);
Handle vecdot(const Operand& a, const Operand& b, Location at);
Handle cross(const Operand& a, const Operand& b, Location at);
Handle kron(const Operand& a, const Operand& b, Location at);
Handle einsum(std::string_view spec, std::span<const Operand> xs, Location at);
Handle tensordot(const Operand& a, const Operand& b, int count, Location at);
Handle tensordot(const Operand& a, const Operand& b, std::span<const int> a_axes, std::span<const int> b_axes,
                 Location at);
Handle conv(const Operand& x, const Operand& w, const ConvOptions& options, Location at);

// ---- indexing by arrays
Handle take(const Operand& x, const Operand& indices, int axis, mode out_of_bounds, Location at);
Handle take_along_axis(const Operand& x, const Operand& indices, int axis, mode out_of_bounds, Location at);
Handle gather(const Operand& x, std::span<const Operand> indices, Location at);
Handle scatter_add(const Operand& x, const Operand& indices, const Operand& updates, Location at);
Handle dynamic_slice(const Operand& x, std::span<const Operand> starts, std::span<const int64_t> sizes, Location at);
Handle dynamic_update_slice(const Operand& x, const Operand& update, std::span<const Operand> starts, Location at);

// ---- creation
Handle zeros(DType dtype, const Shape& shape, Location at);
Handle ones(DType dtype, const Shape& shape, Location at);
/// `value` of rank 0, converted to `dtype`.
Handle full(DType dtype, const Shape& shape, const Operand& value, Location at);
Handle iota(DType dtype, int64_t n, Location at);
Handle arange(DType dtype, double start, double stop, double step, Location at);
Handle eye(DType dtype, int64_t n, Location at);
Handle linspace(DType dtype, double low, double high, int64_t n, Location at);
Handle linspace_without_end(DType dtype, double low, double high, int64_t n, Location at);

// ---- random numbers; a key is u32[2]
namespace random {
/// Of an integer scalar.
Handle key(const Operand& seed, Location at);
std::vector<Handle> split(const Operand& key, int64_t n, Location at);
Handle fold_in(const Operand& key, const Operand& data, Location at);
#define CALQUE_SAMPLERS(X) \
  X(bits) X(uniform) X(normal) X(exponential) X(gumbel) X(laplace) X(logistic) X(cauchy) X(rademacher)
#define CALQUE_X(f) Handle f(const Operand& key, DType dtype, const Shape& shape, Location at);
CALQUE_SAMPLERS(CALQUE_X)
#undef CALQUE_X
Handle uniform(const Operand& key, const Operand& low, const Operand& high, DType dtype, const Shape& shape,
               Location at);
Handle truncated_normal(const Operand& key, const Operand& low, const Operand& high, DType dtype, const Shape& shape,
                        Location at);
Handle randint(const Operand& key, const Operand& low, const Operand& high, DType dtype, const Shape& shape,
               Location at);
Handle bernoulli(const Operand& key, const Operand& p, const Shape& shape, Location at);
Handle gamma(const Operand& key, const Operand& a, DType dtype, const Shape& shape, Location at);
Handle loggamma(const Operand& key, const Operand& a, DType dtype, const Shape& shape, Location at);
Handle chisquare(const Operand& key, const Operand& df, DType dtype, const Shape& shape, Location at);
Handle t(const Operand& key, const Operand& df, DType dtype, const Shape& shape, Location at);
Handle poisson(const Operand& key, const Operand& rate, DType dtype, const Shape& shape, Location at);
Handle beta(const Operand& key, const Operand& a, const Operand& b, DType dtype, const Shape& shape, Location at);
/// `shape`: that of the result without the classes.
Handle dirichlet(const Operand& key, const Operand& alpha, DType dtype, const Shape& shape, Location at);
/// Without a shape: that to which the batch dimensions broadcast.
Handle multivariate_normal(const Operand& key, const Operand& mean, const Operand& cov,
                           const std::optional<Shape>& shape, Location at);
Handle orthogonal(const Operand& key, int64_t n, DType dtype, const Shape& shape, Location at);
/// Without a shape: that of the logits without the axis.
Handle categorical(const Operand& key, const Operand& logits, const std::optional<Shape>& shape, int axis, Location at);
}  // namespace random

// ---- linear algebra
namespace linalg {
using calque::linalg::ord;
Handle cholesky(const Operand& a, Location at);
Handle triangular_solve(const Operand& a, const Operand& b, bool lower, bool transpose, bool unit_diagonal,
                        Location at);
Handle cho_solve(const Operand& l, const Operand& b, Location at);
std::vector<Handle> lu(const Operand& a, Location at);
std::vector<Handle> lu_factor(const Operand& a, Location at);
Handle lu_solve(const Operand& packed, const Operand& perm, const Operand& b, Location at);
Handle solve(const Operand& a, const Operand& b, Location at);
Handle inv(const Operand& a, Location at);
Handle det(const Operand& a, Location at);
std::vector<Handle> slogdet(const Operand& a, Location at);
std::vector<Handle> qr(const Operand& a, Location at);
/// The x of least squares with matrices of full rank, by QR.
Handle least_squares(const Operand& a, const Operand& b, Location at);
/// By singular values; without rcond, eps times the greater extent. x, residuals, rank, s.
std::vector<Handle> lstsq(const Operand& a, const Operand& b, std::optional<double> rcond, Location at);
Handle pinv(const Operand& a, std::optional<double> rcond, Location at);
Handle matrix_rank(const Operand& a, std::optional<double> rcond, Location at);
Handle cond(const Operand& a, ord order, Location at);
std::vector<Handle> eigh(const Operand& a, Location at);
Handle eigvalsh(const Operand& a, Location at);
std::vector<Handle> eig(const Operand& a, Location at);
Handle eigvals(const Operand& a, Location at);
std::vector<Handle> svd(const Operand& a, Location at);
Handle svdvals(const Operand& a, Location at);
Handle matrix_power(const Operand& a, int64_t n, Location at);
Handle expm(const Operand& a, Location at);
/// Without an order: that of the 2-norm of vectors, the Frobenius norm of matrices.
Handle norm(const Operand& x, std::optional<ord> order, const Axes& axes, bool keepdims, Location at);
Handle norm(const Operand& x, double p, const Axes& axes, bool keepdims, Location at);
Handle multi_dot(std::span<const Operand> xs, Location at);
}  // namespace linalg

// ---- effects
/// Prints `format`, whose `{}` stand for the operands, when the graph runs.
void debug_print(std::string_view format, std::span<const Operand> xs, Location at);
/// Calls `function` with the operands when the graph runs; its results have the types `results`.
std::vector<Handle> host_call(std::shared_ptr<const HostFunction> function, std::span<const Type> results,
                              std::span<const Operand> xs, Location at);

// ---- among the examples of a mapped axis. Throw Error when no axis of that name is mapped over.
/// psum, pmax or pmin of `x` as a value of `dtype`.
Handle mapped_reduce(ReduceOp op, const Operand& x, DType dtype, std::string_view axis, Location at);
Handle mapped_gather(const Operand& x, DType dtype, std::string_view axis, Location at);
Handle mapped_scatter(const Operand& x, DType dtype, std::string_view axis, Location at);
Handle mapped_permute(const Operand& x, DType dtype, std::string_view axis,
                      std::span<const std::pair<int64_t, int64_t>> pairs, Location at);
Handle axis_index(std::string_view axis, Location at);
int64_t axis_size(std::string_view axis, Location at);

// ---- among processes. `name` is that of the function in messages.
/// The type of the result. Throws ShapeError when a rank is out of range or the operand has not a row for each rank,
/// DTypeError when it cannot be combined.
Type result_of_collective(const CollectiveCall& call, const ProcessGroup& group, std::string_view name);
/// Records the call on `x`, null for those without an operand, as a value of the dtype of `call.operand`. The handle is
/// empty where there is no result.
Handle collective(const std::shared_ptr<const ProcessGroup>& group, CollectiveCall call, const Operand* x,
                  std::string_view name);
/// Makes the call at once. The result is on the device of x: the operand, or for `receive` an array whose values do not
/// matter.
AnyArray run_collective(const std::shared_ptr<const ProcessGroup>& group, CollectiveCall call, const AnyArray* x,
                        std::string_view name);

}  // namespace calque::detail::ops
