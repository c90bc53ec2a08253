#pragma once
// Single elements known while tracing.
#include "calque/detail/operand.h"
#include "calque/ir/graph.h"

namespace calque::detail {

/// A C++ literal as an element of `dtype`. Throws DTypeError for an integer that `dtype` cannot hold.
Literal weak_literal(const WeakLiteral& w, DType dtype, Location at, std::string_view operation = "literal");
/// `value` in any dtype, complex ones included (rounded; integers truncate).
Literal number(DType dtype, double value);
/// The element and type of a handle that is a literal.
Literal literal_of(Handle handle);
const Type& literal_type(Handle handle);
/// The element of a rank-0 array on the host.
Literal literal_of(const AnyArray& array);

}  // namespace calque::detail
