#pragma once
// The built-in cases of `calque bench --device`: graphs of a size.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::cli {

struct DeviceCase {
  std::string name, what;
  std::function<Graph(int64_t n)> make;    ///< of arrays of about n elements
  std::function<double(int64_t n)> bytes;  ///< that must be read and written
  std::function<double(int64_t n)> flops;  ///< that must be computed
  bool matrix_units = false;  ///< a GPU has units for it that are faster than what its limits are measured with
  bool fast_math = false;     ///< compiled so
  int64_t smallest = 1 << 10, largest = 1 << 26;
};

const std::vector<DeviceCase>& built_in_device_cases();

/// Graphs whose times tell a device's limits: a copy of n floats, and n chains of `kProbeSteps` multiply-adds.
Graph copy_probe(int64_t n);
Graph arithmetic_probe(int64_t n);
inline constexpr int64_t kProbeSteps = 256;

}  // namespace calque::cli
