#pragma once
// Random graphs of arithmetic whose every result is cast, so that outside strict mode too they have one right result.
#include <cstdint>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::test {

/// The graph of this seed: products, sums and other arithmetic on f16, bf16, f32 and f64. No product is a term of a
/// sum, and no 16-bit result is an operand, before it is cast to another type, or to a wider type and back; between an
/// operation and the cast are at most operations that commute with rounding.
Graph random_casts(uint64_t seed);

/// Arguments whose products need all the bits of a wider type.
std::vector<AnyArray> full_significands(const Graph& graph, uint64_t seed);

}  // namespace calque::test
