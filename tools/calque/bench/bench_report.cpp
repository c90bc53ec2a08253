#include "calque/bench/bench_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace calque::cli {

std::optional<double> BenchRow::of_floor() const {
  if (floor_seconds <= 0) return std::nullopt;
  return floor_seconds / seconds;
}

std::vector<BenchRow> bench_rows(const nlohmann::ordered_json& document) {
  std::vector<BenchRow> rows;
  for (const auto& r : document.at("results")) {
    BenchRow row;
    row.task = r.at("task").get<std::string>();
    row.size = r.at("size").get<std::string>();
    row.variant = r.at("variant").get<std::string>();
    row.seconds = r.at("median_seconds").get<double>();
    row.floor_seconds = r.value("floor_seconds", r.value("of_floor", 0.0) * row.seconds);
    row.floor = r.value("floor", "");
    row.flops = r.value("flops", 0.0);
    row.bytes = r.value("bytes", 0.0);
    rows.push_back(std::move(row));
  }
  return rows;
}

const BenchRow* best_rival(const std::vector<BenchRow>& rows, const BenchRow& row) {
  const BenchRow* best = nullptr;
  for (const BenchRow& other : rows) {
    if (other.ours() || other.task != row.task || other.size != row.size) continue;
    if (best == nullptr || other.seconds < best->seconds) best = &other;
  }
  return best;
}

std::string show_seconds(double seconds) {
  struct Unit {
    const char* name;
    double scale;
  };
  for (const Unit& unit : {Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3}})
    if (seconds < 999.5 * unit.scale) return fmt::format("{:.3g} {}", seconds / unit.scale, unit.name);
  return fmt::format("{:.3g} s", seconds);
}

std::string bench_table(const std::vector<BenchRow>& rows) {
  std::string out =
      "| case | size | Calque | of the floor | best rival | speed against it |\n|---|---|---|---|---|---|\n";
  for (const BenchRow& row : rows) {
    if (!row.ours()) continue;
    const auto share = row.of_floor();
    const BenchRow* rival = best_rival(rows, row);
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", row.name(), row.size, show_seconds(row.seconds),
                       share ? fmt::format("{:.2f}", *share) : "",
                       rival ? rival->variant + ", " + show_seconds(rival->seconds) : "",
                       rival ? fmt::format("{:.2f}", rival->seconds / row.seconds) : "");
  }
  return out;
}

}  // namespace calque::cli
