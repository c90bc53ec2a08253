#pragma once
// `calque bench --device cpu,gpu`: the same graphs on several devices, their sizes swept, transfers shown apart.
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace calque::cli {

struct DeviceBenchOptions {
  std::vector<std::string> devices;
  std::vector<std::string> cases;   ///< built-in ones; empty: all, unless there are graphs
  std::vector<std::string> graphs;  ///< files of graphs
  std::vector<int64_t> sizes;       ///< elements of the arrays; empty: a sweep
  int64_t largest = 0;              ///< elements of the largest arrays of a sweep; 0: by device
  double seconds = 0.2;             ///< of measuring, for each figure
};

/// Adds what other libraries took for the same cases and sizes on a GPU, `{"results": [{"case", "elements", "variant",
/// "seconds"}]}`, to the rows of a document, each with the ratio of the fastest one's time to ours.
void merge_device_rivals(nlohmann::ordered_json& document, const nlohmann::ordered_json& rivals);

/// Runs and prints a table for each case. Returns everything measured; a case that fails has an `error` in place of its
/// further rows. `save` gets what there is after each row, so that little is lost with the process.
nlohmann::ordered_json bench_devices(const DeviceBenchOptions& options,
                                     const std::function<void(const nlohmann::ordered_json&)>& save);

/// A self-contained HTML page: time by size for each case, with the sizes from which one device is ahead, and the
/// roofline of each device.
std::string device_page(const nlohmann::ordered_json& document);

/// Names of the built-in cases.
std::vector<std::string> device_cases();

}  // namespace calque::cli
