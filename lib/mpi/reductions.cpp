#include "mpi/reductions.h"

#include <array>

namespace calque::mpi {
namespace {

/// MPI_MAX and MPI_MIN leave open what becomes of NaN.
template <class T, bool Greatest>
void extreme(void* in, void* inout, int* count, MPI_Datatype*) {
  const T* const x = static_cast<const T*>(in);
  T* const y = static_cast<T*>(inout);
  for (int i = 0; i < *count; ++i) {
    const bool replaces = Greatest ? x[i] > y[i] : x[i] < y[i];
    if (replaces || x[i] != x[i]) y[i] = x[i];
  }
}

template <class T, bool Greatest>
MPI_Op extreme_of() {
  // Lives until MPI ends, which frees it.
  static const MPI_Op operation = [] {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(&extreme<T, Greatest>, 1, &op);
    return op;
  }();
  return operation;
}

}  // namespace

MPI_Datatype datatype_of(DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return MPI_C_BOOL;
    case DType::i8:
      return MPI_INT8_T;
    case DType::i16:
      return MPI_INT16_T;
    case DType::i32:
      return MPI_INT32_T;
    case DType::i64:
      return MPI_INT64_T;
    case DType::u8:
      return MPI_UINT8_T;
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return MPI_UINT16_T;
    case DType::u32:
      return MPI_UINT32_T;
    case DType::u64:
      return MPI_UINT64_T;
    case DType::f32:
      return MPI_FLOAT;
    case DType::f64:
      return MPI_DOUBLE;
    case DType::c64:
      return MPI_C_FLOAT_COMPLEX;
    default:
      return MPI_C_DOUBLE_COMPLEX;
  }
}

MPI_Op operation_of(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::sum:
      return MPI_SUM;
    case ReduceOp::prod:
      return MPI_PROD;
    case ReduceOp::max:
      return dtype == DType::f32   ? extreme_of<float, true>()
             : dtype == DType::f64 ? extreme_of<double, true>()
                                   : MPI_MAX;
    case ReduceOp::min:
      return dtype == DType::f32   ? extreme_of<float, false>()
             : dtype == DType::f64 ? extreme_of<double, false>()
                                   : MPI_MIN;
    case ReduceOp::all:
      return MPI_LAND;
    default:
      return MPI_LOR;
  }
}

}  // namespace calque::mpi
