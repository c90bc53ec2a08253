#pragma once
// The types and operations of MPI that combine elements.
#include "calque/ir/collectives.h"

#include "mpi/state.h"

namespace calque::mpi {

/// The MPI type of an element, in which it is also combined; 16-bit floats have none (MPI_UINT16_T).
MPI_Datatype datatype_of(DType dtype);

/// The operation on elements of a type that has an MPI type. NaN is the greatest and the least of all numbers.
MPI_Op operation_of(ReduceOp op, DType dtype);

}  // namespace calque::mpi
