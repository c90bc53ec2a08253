#pragma once
// `calque bench --device cpu,gpu`: the same graphs on several devices over a range of sizes; transfers are separate.
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calque/commands.h"

namespace calque::cli {

/// Adds the times of other libraries on the same cases and sizes on a GPU, `{"results": [{"case", "elements",
/// "variant", "seconds"}]}`, to the rows of a document, each with the ratio of the fastest rival's time to ours.
void merge_device_rivals(nlohmann::ordered_json& document, const nlohmann::ordered_json& rivals);

/// Measures and prints a table for each case. Returns all figures; a case that fails has an `error` in place of its
/// remaining rows. `save` is called with the figures so far after each row, so that a crash loses little.
nlohmann::ordered_json bench_devices(const DeviceBenchOptions& options,
                                     const std::function<void(const nlohmann::ordered_json&)>& save);

/// A self-contained HTML page: time by size for each case, with the sizes from which one device is ahead, and the
/// roofline of each device.
std::string device_page(const nlohmann::ordered_json& document);

/// Names of the built-in cases.
std::vector<std::string> device_cases();

}  // namespace calque::cli
