#pragma once
// Random graphs that type-check and whose loops terminate, for property tests of evaluators, passes and texts.
#include <cstdint>
#include <string>
#include <vector>

#include "calque/ir/graph.h"

#include "support/random/random.h"

namespace calque::test {

struct RandomGraphOptions {
  /// Top-level equations drawn; a few more may be added to make operands fit.
  int min_equations = 1, max_equations = 60;
  /// Nesting depth of sub-graphs; 0 excludes control flow and calls.
  int max_depth = 2;
  int max_rank = 5;
  int64_t max_elements = 600;
  /// Element types of all values; iota and comparisons may add i32 and bool.
  std::vector<DType> dtypes = {DType::bool_, DType::i8,  DType::i16, DType::i32,  DType::i64, DType::u8, DType::u16,
                               DType::u32,   DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64};
  /// Operations on floats where a rounding error in the operand can change the result a lot: jumps, poles, domain
  /// boundaries, comparisons, conversions to integers.
  bool discontinuous = true;
  /// Sums and products of floats whose order an implementation may choose.
  bool reassociated = true;
  /// Functions of lib/math (exp, sin, lgamma ...).
  bool math = true;
  /// Gather, scatter and dynamic slices.
  bool indexing = true;
  /// debug_print.
  bool effects = false;
  /// Literals, constants and NaN payloads at the corners of their types.
  bool corners = true;
  /// Names of primitives to exclude.
  std::vector<std::string> exclude = {};
};

/// The graph of this seed: the same on every platform. It verifies and round-trips through its text.
Graph random_graph(uint64_t seed, const RandomGraphOptions& options = {});

/// Arguments for a graph: small numbers that are exact in every type, arbitrary bits and, with `corners`, zeros of both
/// signs, infinities, NaNs, subnormals and the limits of integer types.
std::vector<AnyArray> random_inputs(const Graph& graph, uint64_t seed, bool corners = true);

/// One such array.
AnyArray random_array(const Type& type, Rng& rng, bool corners = true);

}  // namespace calque::test
