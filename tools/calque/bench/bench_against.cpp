#include "calque/bench/bench_against.h"

#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calque/bench/bench_report.h"

namespace calque::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Case, size and variant of one of our rows.
using Key = std::tuple<std::string, std::string, std::string>;

struct Figures {
  double seconds = 0;
  std::optional<double> of_limit;
  std::string limit;                     ///< its formula: shares of different limits are not compared
  std::map<std::string, double> rivals;  ///< seconds
};

using Run = std::map<Key, Figures>;

double positive(double seconds, const std::string& task) {
  if (std::isfinite(seconds) && seconds > 0) return seconds;
  throw std::runtime_error("the time of '" + task + "' is not a positive number");
}

Run run_of_programs(const Json& document) {
  Run run;
  const std::vector<BenchRow> rows = bench_rows(document);
  for (const BenchRow& row : rows) {
    if (!row.ours()) continue;
    Figures f{positive(row.seconds, row.task), row.of_floor(), row.floor, {}};
    for (const BenchRow& other : rows)
      if (!other.ours() && other.task == row.task && other.size == row.size)
        f.rivals.emplace(other.variant, positive(other.seconds, other.task));
    run.emplace(Key{row.task, row.size, row.variant}, std::move(f));
  }
  return run;
}

/// Rivals ran on the first device that is not the CPU, as in `merge_device_rivals`.
Run run_of_devices(const Json& document) {
  Run run;
  for (const Json& c : document.at("cases")) {
    const std::string name = c.at("name").get<std::string>();
    for (const Json& row : c.at("rows")) {
      bool has_rivals = row.contains("rivals");
      for (const auto& [device, measured] : row.at("devices").items()) {
        Figures f{positive(measured.at("seconds").get<double>(), name), std::nullopt, {}, {}};
        if (measured.contains("of_limit")) f.of_limit = measured["of_limit"].get<double>();
        if (has_rivals && device != "cpu") {
          for (const auto& [rival, seconds] : row["rivals"].items())
            f.rivals.emplace(rival, positive(seconds.get<double>(), name));
          has_rivals = false;
        }
        run.emplace(Key{name, std::to_string(row.at("elements").get<int64_t>()), "calque " + device}, std::move(f));
      }
    }
  }
  return run;
}

Run run_of(const Json& document, const std::string& name) {
  try {
    if (document.is_object() && document.contains("results")) return run_of_programs(document);
    if (document.is_object() && document.contains("cases")) return run_of_devices(document);
  } catch (const std::exception& e) {
    throw std::runtime_error("bench: " + name + ": " + e.what());
  }
  throw std::runtime_error("bench: " + name + " has neither \"results\", of programs, nor \"cases\", of devices");
}

/// The fastest of the rivals that the other run has too.
const std::pair<const std::string, double>* fastest_shared(const Figures& own, const Figures& other) {
  const std::pair<const std::string, double>* best = nullptr;
  for (const auto& rival : own.rivals)
    if (other.rivals.count(rival.first) && (!best || rival.second < best->second)) best = &rival;
  return best;
}

}  // namespace

void check_figures(const Json& document, const std::string& name) { run_of(document, name); }

AgainstEarlier compare_with_earlier(const Json& now, const Json& earlier, const std::string& earlier_name,
                                    double tolerance) {
  const Run ours = run_of(now, "this run"), before = run_of(earlier, earlier_name);
  AgainstEarlier out;
  std::string table;
  size_t in_both = 0;
  const auto compare = [&](const Key& key, const std::string& what, double was, double is) {
    ++out.compared;
    if (is >= was * (1 - tolerance)) return;
    ++out.fallen;
    const auto& [task, size, variant] = key;
    table += fmt::format("| {}{} | {} | {} | {:.2f} | {:.2f} | {:+.0f} % |\n", task, variant.substr(6), size, what, was,
                         is, 100 * (is / was - 1));
  };
  for (const auto& [key, is] : ours) {
    const auto found = before.find(key);
    if (found == before.end()) continue;
    ++in_both;
    const Figures& was = found->second;
    if (const auto *rival = fastest_shared(is, was), *rival_then = fastest_shared(was, is); rival && rival_then) {
      const std::string then = rival->first == rival_then->first ? "" : " (earlier " + rival_then->first + ")";
      compare(key, "speed against " + rival->first + then, rival_then->second / was.seconds,
              rival->second / is.seconds);
    }
    if (is.of_limit && was.of_limit && is.limit == was.limit)
      compare(key, is.limit.empty() ? "of the limit" : "of the limit " + is.limit, *was.of_limit, *is.of_limit);
  }
  const std::string on = now.value("machine", ""), then = earlier.value("machine", "");
  out.text = fmt::format("against {} of {}{}\n", earlier_name, earlier.value("date", "an unknown date"),
                         on == then ? "" : ", measured on another machine: " + then);
  if (!table.empty())
    out.text += "\n| case | size | ratio | earlier | now | change |\n|---|---|---|---|---|---|\n" + table + "\n";
  out.text += fmt::format("{} of {} ratios fell by more than {:.3g} %", out.fallen, out.compared, 100 * tolerance);
  if (in_both != ours.size()) out.text += fmt::format("; new rows: {}", ours.size() - in_both);
  if (in_both != before.size())
    out.text += fmt::format("; rows that only the earlier run has: {}", before.size() - in_both);
  out.text += '\n';
  return out;
}

}  // namespace calque::cli
