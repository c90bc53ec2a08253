#pragma once
// The built-in cases of `calque bench --device`: graphs parametrized by size.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::cli {

struct DeviceCase {
  std::string name, what;
  std::function<Graph(int64_t n)> make;    ///< of arrays of about n elements
  std::function<double(int64_t n)> bytes;  ///< minimum bytes read and written
  std::function<double(int64_t n)> flops;  ///< minimum number of operations
  bool matrix_units = false;               ///< a GPU has matrix units for it that exceed its measured limits
  bool fast_math = false;                  ///< compiled with fast math
  int64_t smallest = 1 << 10, largest = 1 << 26;
};

const std::vector<DeviceCase>& built_in_device_cases();

/// Graphs that measure the limits of a device: a copy of n floats, and n chains of `kProbeSteps` multiply-adds.
Graph copy_probe(int64_t n);
Graph arithmetic_probe(int64_t n);
inline constexpr int64_t kProbeSteps = 256;

}  // namespace calque::cli
