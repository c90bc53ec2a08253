// Devices run asynchronously: a figure is the time of many calls followed by one synchronization, divided by their
// number. Before any timing, results at the smallest size are compared with the reference evaluator.
#include "calque/bench/bench_devices.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calque/bench/bench_report.h"
#include "calque/bench/device_cases.h"
#include "calque/compare.h"
#include "calque/executor.h"
#include "calque/files.h"
#include "calque/progress.h"

#include "ir/values/bytes.h"
#include "reference/evaluate.h"

namespace calque::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int64_t kStep = 8;
constexpr int64_t kLargestSimulated = 1 << 14;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The median over rounds of the time of one call; each round takes long enough to be timed.
double seconds_of(const std::function<void()>& call, double budget) {
  call();
  synchronize();
  const auto round = [&](int64_t calls) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < calls; ++i) call();
    synchronize();
    return since(start);
  };
  const double once = round(1);
  const auto calls = std::clamp<int64_t>(static_cast<int64_t>(budget / 8 / std::max(once, 1e-7)), 1, 10000);
  std::vector<double> times;
  for (const auto start = Clock::now(); times.size() < 3 || since(start) < budget;)
    times.push_back(round(calls) / static_cast<double>(calls));
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

struct Target {
  Device device;
  std::string name;
  double bandwidth = 0, flops = 0;  ///< measured
};

std::vector<AnyArray> inputs_of(const Graph& graph) {
  std::mt19937_64 bits(1);
  std::vector<AnyArray> arrays;
  for (const Type& type : graph.input_types()) arrays.push_back(random_array(type, bits));
  return arrays;
}

Executor compiled(const Graph& graph, Device device, bool fast_math) {
  runtime::CompileOptions options;
  options.device = device;
  options.fast_math = fast_math;
  return Executor("bench", graph, options);
}

/// Seconds per call over many consecutive calls, without transfers.
double measure_calls(const Graph& graph, const Target& target, double budget) {
  const Executor run = compiled(graph, target.device, false);
  const std::vector<AnyArray> inputs = run.to_device(inputs_of(graph));
  return seconds_of([&] { run(inputs); }, budget);
}

/// Seconds of a copy of the results to the host. An array keeps the copy that was fetched once, so each is new.
double measure_fetches(const Executor& run, const std::vector<AnyArray>& inputs, double budget) {
  std::vector<double> times;
  const auto begin = Clock::now();
  do {
    const std::vector<AnyArray> results = run(inputs);
    synchronize();
    const auto start = Clock::now();
    for (const AnyArray& result : results) detail::copy_to_device("bench", result, cpu(), {});
    times.push_back(since(start));
  } while (since(begin) < budget);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// The figures of one device for one graph.
Json measure(const Graph& graph, const Target& target, double budget, bool fast_math = false) {
  const std::vector<AnyArray> host = inputs_of(graph);
  const auto start = Clock::now();
  const Executor run = compiled(graph, target.device, fast_math);
  const double compile = since(start);
  const std::vector<AnyArray> inputs = run.to_device(host);
  Json figures{{"compile_seconds", compile}, {"seconds", seconds_of([&] { run(inputs); }, budget)}};
  const auto one = [&] {
    run(inputs);
    synchronize();
  };
  figures["call_seconds"] = seconds_of(one, budget / 2);
  if (target.device == cpu()) return figures;
  figures["upload_seconds"] = seconds_of([&] { run.to_device(host); }, budget / 4);
  figures["download_seconds"] = measure_fetches(run, inputs, budget / 4);
  return figures;
}

void check(const DeviceCase& c, const Target& target) {
  const Graph graph = c.make(c.smallest);
  const std::vector<AnyArray> inputs = inputs_of(graph);
  const std::vector<AnyArray> want = reference::evaluate(graph, inputs);
  const std::vector<AnyArray> got = compiled(graph, target.device, c.fast_math)(inputs);
  for (size_t o = 0; o < want.size(); ++o) {
    Tolerance tolerance;
    tolerance.kind = Tolerance::Kind::relative;
    const bool half = size_of(want[o].dtype()) == 2;
    tolerance.rtol = half ? 1e-2 : c.fast_math ? 1e-3 : 1e-4;  // factors of 11 significant bits, where fast
    tolerance.atol = half ? 2e-2 : c.fast_math ? 2e-2 : 1e-3;
    const AnyArray fetched = detail::copy_to_device("bench", got[o], cpu(), {});
    if (const std::string text = difference(fetched, want[o], tolerance); !text.empty())
      throw Error("bench: " + c.name + " on " + target.name + " differs from the reference: " + text);
  }
}

void probe(Target& target, double budget) {
  const bool simulated = target.device.kind == Device::Kind::gpu_sim;
  const int64_t n = simulated ? 1 << 12 : target.device == cpu() ? 1 << 25 : 1 << 28, m = simulated ? 1 << 10 : 1 << 20;
  target.bandwidth = 8 * static_cast<double>(n) / measure_calls(copy_probe(n), target, budget);
  target.flops = 2 * static_cast<double>(kProbeSteps) * static_cast<double>(m) /
                 measure_calls(arithmetic_probe(m), target, budget);
}

std::vector<Target> targets_of(const DeviceBenchOptions& options, Json& skipped) {
  std::vector<Target> targets;
  for (const std::string& name : options.devices) {
    const Device device = parse_device(name);
    try {
      detail::require_device("bench", device, {});
    } catch (const DeviceError& e) {
      std::cout << e.what() << "; the other devices are measured\n";
      skipped.push_back(name + ": " + e.what());
      continue;
    }
    targets.push_back({device, to_string(device)});
  }
  return targets;
}

std::string with_unit(double value, const char* unit) {
  const char* prefixes[] = {"", "k", "M", "G", "T"};
  size_t p = 0;
  while (value >= 1000 && p + 1 < std::size(prefixes)) value /= 1000, ++p;
  return fmt::format("{:.3g} {}{}", value, prefixes[p], unit);
}

/// Adds the rate of operations and the share of the roofline limit. The measured limits do not cover matrix units;
/// cases that use these are compared with other libraries instead.
void rate(Json& row, const Target& target, bool matrix_units) {
  Json& figures = row["devices"][target.name];
  const double seconds = figures["seconds"].get<double>(), flops = row["flops"].get<double>();
  figures["flops"] = flops / seconds;
  if (matrix_units && target.device != cpu()) return;
  // Arrays that fit in caches are not limited by memory bandwidth.
  constexpr double kInCache = 64 << 20;
  const double bytes = row["bytes"].get<double>(), moving = bytes / target.bandwidth, computing = flops / target.flops;
  if (moving > computing && bytes < kInCache) return;
  figures["of_limit"] = std::max(moving, computing) / seconds;
}

double with_transfers(const Json& figures) {
  return figures["call_seconds"].get<double>() + figures.value("upload_seconds", 0.0) +
         figures.value("download_seconds", 0.0);
}

/// The smallest measured size from which `b` is faster than `a` at all larger measured sizes.
template <class Time>
std::optional<int64_t> crossover(const Json& rows, const std::string& a, const std::string& b, const Time& time) {
  std::optional<int64_t> from;
  for (const Json& row : rows) {
    const Json& devices = row["devices"];
    if (!devices.contains(a) || !devices.contains(b)) continue;
    if (time(devices[b]) < time(devices[a])) {
      if (!from) from = row["elements"].get<int64_t>();
    } else {
      from.reset();
    }
  }
  return from;
}

void tell_crossovers(Json& of_case, const std::vector<Target>& targets) {
  of_case["crossovers"] = Json::array();
  for (size_t t = 1; t < targets.size(); ++t) {
    const std::string &a = targets[0].name, &b = targets[t].name;
    const auto alone = crossover(of_case["rows"], a, b, [](const Json& f) { return f["seconds"].get<double>(); });
    const auto all = crossover(of_case["rows"], a, b, with_transfers);
    const auto text = [](const std::optional<int64_t>& n) {
      return n ? fmt::format("from {} elements on", *n) : std::string("at no size");
    };
    std::cout << fmt::format("  {} is ahead of {} {}; with transfers {}\n", b, a, text(alone), text(all));
    Json one{{"of", b}, {"over", a}};
    if (alone) one["elements"] = *alone;
    if (all) one["elements_with_transfers"] = *all;
    of_case["crossovers"].push_back(one);
  }
}

void print_row(const Json& row, const std::vector<Target>& targets) {
  std::cout << fmt::format("  {:>10}", row["elements"].get<int64_t>());
  for (const Target& t : targets) {
    if (!row["devices"].contains(t.name)) {
      std::cout << fmt::format("  {:>34}", "-");
      continue;
    }
    const Json& f = row["devices"][t.name];
    const double moved = f.value("upload_seconds", 0.0) + f.value("download_seconds", 0.0);
    const std::string share = f.contains("of_limit") ? fmt::format("{:.2f}", f["of_limit"].get<double>()) : "-";
    std::cout << fmt::format("  {:>10} {:>5} {:>16}", show_seconds(f["seconds"].get<double>()), share,
                             moved > 0 ? "+ " + show_seconds(moved) + " moved" : "");
  }
  std::cout << '\n';
}

class Sweep {
 public:
  /// `save` is called with the figures of a case so far.
  Sweep(const DeviceBenchOptions& options, const std::vector<Target>& targets, Progress& progress,
        std::function<void(const Json&)> save)
      : options_(options), targets_(targets), progress_(progress), save_(std::move(save)) {}

  void run(const DeviceCase& c) const {
    attempt(c.name, c.what, [&](Json& out) {
      for (const Target& t : targets_) check(c, t);
      for (const int64_t n : sizes(c)) {
        Json row{{"elements", n}, {"bytes", c.bytes(n)}, {"flops", c.flops(n)}, {"devices", Json::object()}};
        for (const Target& t : targets_)
          if (n <= largest(t)) {
            row["devices"][t.name] = measure(c.make(n), t, options_.seconds, c.fast_math);
            rate(row, t, c.matrix_units);
          }
        if (!row["devices"].empty()) add(out, row);
      }
    });
  }

  /// A user's graph has fixed sizes.
  void run(const std::string& file) const {
    const Graph graph = read_graph(file);
    double bytes = 0;
    int64_t most = 0;
    for (const auto& types : {graph.input_types(), graph.output_types()})
      for (const Type& type : types) {
        bytes += static_cast<double>(bytes_of(type));
        most = std::max(most, type.shape.num_elements());
      }
    attempt(file, graph.name(), [&](Json& out) {
      Json row{{"elements", most}, {"bytes", bytes}, {"flops", 0.0}, {"devices", Json::object()}};
      for (const Target& t : targets_) {
        row["devices"][t.name] = measure(graph, t, options_.seconds);
        rate(row, t, false);
      }
      add(out, row);
    });
  }

 private:
  /// Measures one case. A failure is reported, and the other cases are still measured.
  void attempt(const std::string& name, const std::string& what, const std::function<void(Json&)>& measure_rows) const {
    Json out{{"name", name}, {"what", what}, {"rows", Json::array()}};
    head(what == name ? name : name + ": " + what);
    try {
      measure_rows(out);
    } catch (const Error& e) {
      out["error"] = e.what();
      progress_.hide();
      std::cout << "  failed: " << e.what() << '\n';
    }
    progress_.hide();
    tell_crossovers(out, targets_);
    save_(out);
    progress_.step();
  }
  void add(Json& out, const Json& row) const {
    progress_.hide();
    print_row(row, targets_);
    out["rows"].push_back(row);
    save_(out);
    progress_.show();
  }
  void head(const std::string& title) const {
    progress_.hide();
    std::cout << '\n' << title << '\n' << fmt::format("  {:>10}", "elements");
    for (const Target& t : targets_) std::cout << fmt::format("  {:>10} {:>5} {:>16}", t.name, "limit", "");
    std::cout << std::endl;
    progress_.show();
  }
  std::vector<int64_t> sizes(const DeviceCase& c) const {
    if (!options_.sizes.empty()) return options_.sizes;
    std::vector<int64_t> all;
    for (int64_t n = c.smallest; n <= c.largest; n *= kStep) all.push_back(n);
    return all;
  }
  int64_t largest(const Target& t) const {
    if (t.device.kind == Device::Kind::gpu_sim) return kLargestSimulated;
    if (!options_.sizes.empty()) return INT64_MAX;
    return options_.largest > 0 ? options_.largest : INT64_MAX;
  }

  const DeviceBenchOptions& options_;
  const std::vector<Target>& targets_;
  Progress& progress_;
  const std::function<void(const Json&)> save_;
};

Json* row_of(Json& document, const Json& result) {
  for (Json& c : document["cases"]) {
    if (c["name"] != result.at("case")) continue;
    for (Json& row : c["rows"])
      if (row["elements"] == result.at("elements")) return &row;
  }
  return nullptr;
}

/// The time of the first GPU or GPU simulator, if there is one.
std::optional<double> gpu_seconds(const Json& row) {
  for (const auto& [name, figures] : row["devices"].items())
    if (parse_device(name) != cpu()) return figures["seconds"].get<double>();
  return std::nullopt;
}

}  // namespace

void merge_device_rivals(Json& document, const Json& rivals) {
  if (rivals.contains("versions")) document["versions"].update(rivals["versions"]);
  if (rivals.contains("skipped"))
    for (const Json& reason : rivals["skipped"]) document["skipped"].push_back(reason);
  for (const Json& result : rivals.at("results"))
    if (Json* row = row_of(document, result))
      (*row)["rivals"][result.at("variant").get<std::string>()] = result.at("seconds");
  for (Json& c : document["cases"]) {
    for (Json& row : c["rows"]) {
      const std::optional<double> ours = gpu_seconds(row);
      if (!ours || !row.contains("rivals")) continue;
      std::pair<double, std::string> best{INFINITY, ""};
      for (const auto& [variant, seconds] : row["rivals"].items())
        best = std::min(best, {seconds.get<double>(), variant});
      row["best_rival"] = best.second;
      row["of_best_rival"] = best.first / *ours;
      std::cout << fmt::format("{} of {}: {:.2f} times as fast as {} ({})\n", c["name"].get<std::string>(),
                               row["elements"].get<int64_t>(), best.first / *ours, best.second,
                               show_seconds(best.first));
    }
  }
}

std::vector<std::string> device_cases() {
  std::vector<std::string> names;
  for (const DeviceCase& c : built_in_device_cases()) names.push_back(c.name);
  return names;
}

Json bench_devices(const DeviceBenchOptions& options, const std::function<void(const Json&)>& save) {
  Json all{{"devices", Json::array()}, {"skipped", Json::array()}, {"cases", Json::array()}};
  std::vector<Target> targets = targets_of(options, all["skipped"]);
  if (targets.empty()) throw DeviceError("bench: none of the devices is available");
  for (Target& t : targets) {
    probe(t, options.seconds);
    std::cout << fmt::format("{}: copies {}, computes {}", t.name, with_unit(t.bandwidth, "B/s"),
                             with_unit(t.flops, "flop/s of f32"))
              << std::endl;
    all["devices"].push_back({{"name", t.name}, {"bandwidth", t.bandwidth}, {"flops", t.flops}});
    save(all);
  }
  std::vector<DeviceCase> chosen;
  for (const DeviceCase& c : built_in_device_cases()) {
    const bool named = std::find(options.cases.begin(), options.cases.end(), c.name) != options.cases.end();
    if (named || (options.cases.empty() && options.graphs.empty())) chosen.push_back(c);
  }
  Progress progress(options.graphs.size() + chosen.size(), "cases");
  const Sweep sweep(options, targets, progress, [&](const Json& of_case) {
    Json& cases = all["cases"];
    if (cases.empty() || cases.back()["name"] != of_case["name"])
      cases.push_back(of_case);
    else
      cases.back() = of_case;
    std::cout << std::flush;
    save(all);
  });
  for (const std::string& file : options.graphs) sweep.run(file);
  for (const DeviceCase& c : chosen) sweep.run(c);
  return all;
}

}  // namespace calque::cli
