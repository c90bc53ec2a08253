#pragma once
// Windows at run-time index vectors.
#include "primitives/shape/view.h"

namespace calque::primitives {

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

}  // namespace calque::primitives
