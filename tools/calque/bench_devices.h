#pragma once
// `calque bench --device cpu,gpu`: the same graphs on several devices, their sizes swept, transfers shown apart.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace calque::cli {

struct DeviceBenchOptions {
  std::vector<std::string> devices;
  std::vector<std::string> cases;   ///< built-in ones; empty: all, unless there are graphs
  std::vector<std::string> graphs;  ///< files of graphs
  int64_t largest = 0;              ///< elements of the largest arrays; 0: by device
  double seconds = 0.2;             ///< of measuring, for each figure
};

/// Runs and prints a table for each case. Returns everything measured.
nlohmann::ordered_json bench_devices(const DeviceBenchOptions& options);

/// A self-contained HTML page: time by size for each case, with the sizes from which one device is ahead, and the
/// roofline of each device.
std::string device_page(const nlohmann::ordered_json& document);

/// Names of the built-in cases.
std::vector<std::string> device_cases();

}  // namespace calque::cli
