#pragma once
// The options that affect the code generated for a graph.
#include <vector>

#include "calque/device.h"
#include "calque/ir/graph.h"
#include "calque/tier.h"

namespace calque::runtime {

struct CompileOptions {
  bool strict = false;
  bool fast_math = false;
  /// Run on the reference evaluator.
  bool reference = false;
  /// By input: whether the call donates its memory. Missing entries: no.
  std::vector<bool> donated = {};
  /// Number of leading inputs that a scalar entry takes by value; negative: no scalar entry.
  int scalar_arguments = -1;
  /// On a GPU: floats are never combined in an order that varies between runs. (On the CPU they never are.)
  bool deterministic = false;
  /// Subnormal operands and results of arithmetic are flushed to zero; fast_math implies this.
  bool flush_subnormals = false;
  /// How much is optimized before the first call runs.
  calque::tier tier = calque::tier::automatic;
  /// Where the code runs. Inputs of devices other than the CPU are row-major.
  Device device = {};
  /// Whether the tier is of consequence: code for GPUs and scalar entries is optimized at once.
  bool compiles_tiers() const { return device.kind == Device::Kind::cpu && scalar_arguments < 0; }
  friend bool operator==(const CompileOptions&, const CompileOptions&) = default;
};

/// The layout of an input: its strides in elements.
using Strides = Shape::Dims;

}  // namespace calque::runtime
