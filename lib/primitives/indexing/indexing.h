#pragma once
// Indexing by run-time values. No index value causes an access outside an array.
#include <optional>

#include "primitives/core/rule.h"
#include "primitives/elementwise/scalar.h"
#include "primitives/shape/view.h"

namespace calque::primitives {

struct DynamicSlice : View {
  static constexpr std::string_view name = "dynamic_slice";
  static constexpr std::string_view doc =
      "dynamic_slice(x, start...): a window of extents `sizes`; each rank-0 integer start is clamped to "
      "[0, extent - size]";
  static constexpr bool always_reads = false;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = -1;
  static constexpr std::array attributes{AttributeSpec{"sizes", AttributeKind::integers}};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct DynamicUpdateSlice : View {
  static constexpr std::string_view name = "dynamic_update_slice";
  static constexpr std::string_view doc =
      "dynamic_update_slice(x, update, start...): x with the window at start, clamped to lie inside, replaced by "
      "update";
  static constexpr bool always_reads = false;
  static constexpr int min_operands = 2;
  static constexpr int max_operands = -1;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

/// Windows of x at positions given by the vectors along the last dimension of the indices.
///
/// Component k of an index vector is the start along dimension start_index_map[k] of x. A window has extents
/// slice_sizes; its dimensions except the collapsed (extent 1) and the batching ones become the result's offset_dims,
/// in order; the other result dimensions are those of the indices except the last. Dimension operand_batching_dims[k]
/// of x is paired with dimension indices_batching_dims[k] of the indices. A window not entirely inside x is filled
/// (mode "fill"), is all zeros (mode "zero"), or is moved inside by clamping its start (mode "clip"). Negative starts
/// are outside.
struct Gather : View {
  static constexpr std::string_view name = "gather";
  static constexpr std::string_view doc =
      "gather(x, indices): windows of x at index vectors; mode fill: a window not wholly inside gives NaN, the least "
      "of "
      "signed, the greatest of unsigned integers, true; mode zero: zeros; mode clip: it is moved inside";
  static constexpr bool always_reads = false;
  static constexpr int min_operands = 2;
  static constexpr int max_operands = 2;
  static constexpr std::array attributes{AttributeSpec{"collapsed_slice_dims", AttributeKind::integers},
                                         AttributeSpec{"indices_batching_dims", AttributeKind::integers},
                                         AttributeSpec{"mode", AttributeKind::text},
                                         AttributeSpec{"offset_dims", AttributeKind::integers},
                                         AttributeSpec{"operand_batching_dims", AttributeKind::integers},
                                         AttributeSpec{"slice_sizes", AttributeKind::integers},
                                         AttributeSpec{"start_index_map", AttributeKind::integers}};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

/// The element of a window outside x. Mode "fill": NaN (in both parts if complex), the least signed or the greatest
/// unsigned integer, true. Mode "zero": zero.
Literal gather_fill(const Attributes& attributes, DType dtype);
/// As above, for mode "fill".
Literal gather_fill(DType dtype);

/// Typing of all scatters: (x, indices, updates) to x's type.
void infer_scatter(Typing& t, DTypeSet accepted);

/// Batching of all scatters.
void batch_scatter(Batching& b);

/// Combines windows of updates into x at positions given by index vectors, in row-major order of the updates.
///
/// Component k of an index vector (the last dimension of the indices) is the start along dimension
/// scatter_dims_to_operand_dims[k] of x. update_window_dims are the dimensions of updates that run over the window;
/// they correspond in order to the dimensions of x except the inserted (window extent 1) and the batching ones. The
/// other dimensions of updates are those of the indices except the last. A window not entirely inside x is dropped as a
/// whole.
template <class P, DTypeSet Accepted>
struct ScatterRule : Rule {
  static constexpr int min_operands = 3;
  static constexpr int max_operands = 3;
  static constexpr DTypeSet accepted = Accepted;
  static constexpr std::array attributes{AttributeSpec{"indices_batching_dims", AttributeKind::integers},
                                         AttributeSpec{"inserted_window_dims", AttributeKind::integers},
                                         AttributeSpec{"operand_batching_dims", AttributeKind::integers},
                                         AttributeSpec{"scatter_dims_to_operand_dims", AttributeKind::integers},
                                         AttributeSpec{"update_window_dims", AttributeKind::integers}};
  static constexpr LowerKind kind = LowerKind::structural;
  static constexpr FusionKind fusion_kind = FusionKind::scatter;
  static void infer(Typing& t) { infer_scatter(t, Accepted); }
  /// Defined in indexing_evaluation.cpp from P::combine.
  static void evaluate(Evaluation& e);
  static void batch(Batching& b) { batch_scatter(b); }
};

struct Scatter : ScatterRule<Scatter, kAny> {
  static constexpr std::string_view name = "scatter";
  static constexpr std::string_view doc = "x with windows replaced by updates; the last one in row-major order stays";
  static constexpr std::nullopt_t combiner = std::nullopt;  // the last update stays
  template <class T>
  static T combine(T, T update) {
    return update;
  }
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct ScatterAdd : ScatterRule<ScatterAdd, kNumber> {
  static constexpr std::string_view name = "scatter_add";
  static constexpr std::string_view doc = "x with updates added; 16-bit floats accumulate in f32 and round once";
  static constexpr Combiner combiner = Combiner::add;
  template <class T>
  static T combine(T x, T update) {
    return scalar::add(x, update);
  }
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct ScatterMul : ScatterRule<ScatterMul, kNumber> {
  static constexpr std::string_view name = "scatter_mul";
  static constexpr std::string_view doc =
      "x with updates multiplied in; 16-bit floats accumulate in f32 and round once";
  static constexpr Combiner combiner = Combiner::mul;
  template <class T>
  static T combine(T x, T update) {
    return scalar::mul(x, update);
  }
  using jvp = NotDifferentiable<"has no derivative; write the product as exp of a scatter_add of logarithms">;
  using transpose = NotLinear;
};

struct ScatterMin : ScatterRule<ScatterMin, kReal | kBool> {
  static constexpr std::string_view name = "scatter_min";
  static constexpr std::string_view doc = "the min of x and its updates";
  static constexpr Combiner combiner = Combiner::min;
  template <class T>
  static T combine(T x, T update) {
    return scalar::min(x, update);
  }
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct ScatterMax : ScatterRule<ScatterMax, kReal | kBool> {
  static constexpr std::string_view name = "scatter_max";
  static constexpr std::string_view doc = "the max of x and its updates";
  static constexpr Combiner combiner = Combiner::max;
  template <class T>
  static T combine(T x, T update) {
    return scalar::max(x, update);
  }
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

using IndexingList =
    TypeList<DynamicSlice, DynamicUpdateSlice, Gather, Scatter, ScatterAdd, ScatterMul, ScatterMin, ScatterMax>;

}  // namespace calque::primitives
