#pragma once
// The figures of a benchmark run: a row for each variant of a task at a size, and comparisons of rows. Figures are
// comparable only within one run; rivals in other processes ran after it on the same machine.
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace calque::cli {

/// One variant of one task at one size.
struct BenchRow {
  std::string task, size, variant;
  double seconds = 0;           ///< the median of a call
  double floor_seconds = 0;     ///< the task's physical limit; 0: none
  double flops = 0, bytes = 0;  ///< minimum per call; 0: not given
  std::string floor;            ///< the limit's formula
  bool ours() const { return variant.starts_with("calque"); }
  /// The task and, of another variant of ours, what follows `calque` in its name.
  std::string name() const { return task + (ours() ? variant.substr(6) : ""); }
  std::optional<double> of_floor() const;
};

/// The rows of a document written by `calque bench` or a program of bench/.
std::vector<BenchRow> bench_rows(const nlohmann::ordered_json& document);

/// The fastest rival of a row, or null.
const BenchRow* best_rival(const std::vector<BenchRow>& rows, const BenchRow& row);

/// "12.3 us".
std::string show_seconds(double seconds);

/// A Markdown table with a line for each of our rows.
std::string bench_table(const std::vector<BenchRow>& rows);

/// A self-contained HTML page: bars of the share of the floor and of the speed against the best rival, a roofline with
/// the measured peaks, and all rows.
std::string bench_page(const nlohmann::ordered_json& document);

/// An SVG image, readable on light and on dark ground: bars of the speed against the best rival, for the rows that are
/// named "LABEL=CASE, SIZE", or all that have a rival. Throws std::runtime_error for a row that is not there.
std::string bench_chart(const nlohmann::ordered_json& document, const std::vector<std::string>& names);

}  // namespace calque::cli
