#pragma once
// What a run of the benchmarks told: a row for each variant of a task at a size, and how rows compare. A figure is a
// ratio within one run; rivals of other processes ran after it on the same machine.
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace calque::cli {

/// One variant of one task at one size.
struct BenchRow {
  std::string task, size, variant;
  double seconds = 0;           ///< the median of a call
  double floor_seconds = 0;     ///< the task's physical limit; 0: none
  double flops = 0, bytes = 0;  ///< of a call at the least; 0: not told
  std::string floor;            ///< the limit's formula
  bool ours() const { return variant.starts_with("calque"); }
  std::optional<double> of_floor() const;
};

/// The rows of a document that `calque bench` or a program of bench/ wrote.
std::vector<BenchRow> bench_rows(const nlohmann::ordered_json& document);

/// The fastest rival of a row, or null.
const BenchRow* best_rival(const std::vector<BenchRow>& rows, const BenchRow& row);

/// "12.3 us".
std::string show_seconds(double seconds);

/// A Markdown table: a line for each of our rows.
std::string bench_table(const std::vector<BenchRow>& rows);

/// A self-contained HTML page: bars of the share of the floor and of the speed against the best rival, a roofline with
/// the measured peaks, and all rows.
std::string bench_page(const nlohmann::ordered_json& document);

}  // namespace calque::cli
