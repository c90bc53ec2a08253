#include "common/harness.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <sstream>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "calque/tier.h"

namespace bench {
namespace {

struct Entry {
  Task task;
  std::string variant;
  std::vector<double> seconds;  // per call, one figure per repetition

  bool ours() const { return variant.starts_with("calque"); }
  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    size_t n = sorted.size();
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  }
};

struct State {
  bool failed = false;         // an error while a variant ran
  std::vector<Entry> entries;  // in the order of declaration
  std::vector<int64_t> sizes;
  std::string json_file;
  nlohmann::ordered_json probes = nlohmann::ordered_json::object();
  nlohmann::ordered_json versions = nlohmann::ordered_json::object();
  nlohmann::ordered_json skipped = nlohmann::ordered_json::array();
};

State& state() {
  static State instance;
  return instance;
}

std::string full_name(const Entry& entry) { return entry.task.name + "/" + entry.task.size + "/" + entry.variant; }

/// Collects one figure per repetition; prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      std::string name = run.run_name.function_name;
      for (Entry& entry : state().entries) {
        if (full_name(entry) != name) continue;
        if (run.error_occurred) {
          std::cerr << name << ": " << run.error_message << '\n';
          state().failed = true;
        } else {
          entry.seconds.push_back(run.real_accumulated_time / double(run.iterations));
        }
      }
    }
  }
};

std::string show_seconds(double s) {
  std::ostringstream out;
  out << std::setprecision(3);
  if (s < 1e-6)
    out << s * 1e9 << " ns";
  else if (s < 1e-3)
    out << s * 1e6 << " us";
  else if (s < 1)
    out << s * 1e3 << " ms";
  else
    out << s << " s";
  return out.str();
}

std::string show_ratio(std::optional<double> ratio) {
  if (!ratio) return "-";
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << *ratio;
  return out.str();
}

/// The best rival's median on the task and size of `entry`.
std::optional<double> best_rival(const Entry& entry) {
  std::optional<double> best;
  for (const Entry& other : state().entries) {
    if (other.ours() || other.seconds.empty() || other.task.name != entry.task.name ||
        other.task.size != entry.task.size)
      continue;
    if (!best || other.median() < *best) best = other.median();
  }
  return best;
}

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

void report() {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  std::cout << std::left << std::setw(22) << "task" << std::setw(12) << "size" << std::setw(26) << "variant"
            << std::right << std::setw(12) << "median" << std::setw(10) << "of floor" << std::setw(14) << "x best rival"
            << '\n';
  for (const Entry& entry : state().entries) {
    if (entry.seconds.empty()) continue;
    double median = entry.median();
    auto rival = best_rival(entry);
    std::optional<double> of_floor, of_rival;
    if (entry.task.floor.seconds > 0) of_floor = entry.task.floor.seconds / median;
    if (rival) of_rival = *rival / median;
    std::cout << std::left << std::setw(22) << entry.task.name << std::setw(12) << entry.task.size << std::setw(26)
              << entry.variant << std::right << std::setw(12) << show_seconds(median) << std::setw(10)
              << show_ratio(of_floor) << std::setw(14) << show_ratio(of_rival) << '\n';
    nlohmann::ordered_json row = {{"task", entry.task.name},
                                  {"size", entry.task.size},
                                  {"variant", entry.variant},
                                  {"median_seconds", median},
                                  {"seconds", entry.seconds}};
    if (of_floor) {
      row["of_floor"] = *of_floor;
      row["floor"] = entry.task.floor.formula;
      row["floor_seconds"] = entry.task.floor.seconds;
    }
    if (entry.task.work.flops > 0) row["flops"] = entry.task.work.flops;
    if (entry.task.work.bytes > 0) row["bytes"] = entry.task.work.bytes;
    if (of_rival) row["speed_relative_to_best_rival"] = *of_rival;
    results.push_back(row);
  }
  if (state().json_file.empty()) return;
  nlohmann::ordered_json document = {{"machine", cpu_name()},        {"compiler", __VERSION__},
                                     {"versions", state().versions}, {"probes", state().probes},
                                     {"skipped", state().skipped},   {"results", results}};
  std::ofstream out(state().json_file);
  out << document.dump(2) << '\n';
  if (!out.flush()) {
    std::cerr << "cannot write " << state().json_file << '\n';
    std::exit(EXIT_FAILURE);
  }
}

[[noreturn]] void fail(const std::string& what, size_t at, double got, double expected) {
  std::cerr << what << ": wrong result at " << at << ": expected " << std::setprecision(9) << expected << ", got "
            << got << "; nothing is timed\n";
  std::exit(EXIT_FAILURE);
}

bool close(double got, double expected, double rtol, double atol) {
  return std::abs(got - expected) <= rtol * std::abs(expected) + atol;
}

template <class T>
void check_all(const std::string& what, std::span<const T> got, std::span<const T> expected, double rtol, double atol) {
  if (got.size() != expected.size())
    fail(what + " (number of elements)", 0, double(got.size()), double(expected.size()));
  for (size_t i = 0; i < got.size(); ++i)
    if (!close(double(got[i]), double(expected[i]), rtol, atol)) fail(what, i, double(got[i]), double(expected[i]));
}

/// Libraries read these variables when they are loaded, so the program re-executes itself if they are missing.
void set_up_rivals(char** argv) {
  constexpr const char* kReady = "BENCH_RIVALS_READY";
  if (std::getenv(kReady) != nullptr) return;
  setenv(kReady, "1", 0);
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CALQUE_NUM_THREADS"}) setenv(name, "1", 0);
#if defined(__x86_64__)
  // OpenBLAS before 0.3.26 does not recognize AMD processors with AVX-512.
  __builtin_cpu_init();
  if (__builtin_cpu_is("amd") && __builtin_cpu_supports("avx512bw")) setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 0);
#endif
  execv("/proc/self/exe", argv);
}

}  // namespace

void describe(const Task& task, const std::string& variant) { state().entries.push_back({task, variant, {}}); }

void check(const std::string& what, std::span<const float> got, std::span<const float> expected, double rtol,
           double atol) {
  check_all(what, got, expected, rtol, atol);
}

void check(const std::string& what, std::span<const double> got, std::span<const double> expected, double rtol,
           double atol) {
  check_all(what, got, expected, rtol, atol);
}

void check(const std::string& what, double got, double expected, double rtol, double atol) {
  if (!close(got, expected, rtol, atol)) fail(what, 0, got, expected);
}

void record(const std::string& what, double value, const std::string& unit) {
  state().probes[what] = {{"value", value}, {"unit", unit}};
  std::cout << what << ": " << std::setprecision(4) << value << ' ' << unit << '\n';
}

std::vector<float> random_floats(size_t n, float low, float high, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<float> values(n);
  for (float& value : values) value = low + (high - low) * (float(bits() >> 40) * 0x1p-24f);
  return values;
}

std::vector<double> random_doubles(size_t n, double low, double high, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<double> values(n);
  for (double& value : values) value = low + (high - low) * (double(bits() >> 11) * 0x1p-53);
  return values;
}

void version(const std::string& library, const std::string& version) { state().versions[library] = version; }

void skip(const Task& task, const std::string& variant, const std::string& why) {
  std::cout << task.name << '/' << task.size << '/' << variant << ": skipped, " << why << '\n';
  state().skipped.push_back({{"task", task.name}, {"size", task.size}, {"variant", variant}, {"reason", why}});
}

std::vector<int64_t> sizes(const std::vector<int64_t>& defaults) {
  return state().sizes.empty() ? defaults : state().sizes;
}

std::string size_name(int64_t n) {
  int power = 0;
  int64_t rest = n;
  while (rest >= 10 && rest % 10 == 0) {
    rest /= 10;
    ++power;
  }
  return rest == 1 && power >= 3 ? "10^" + std::to_string(power) : std::to_string(n);
}

int run(int argc, char** argv, const std::function<void()>& declare) {
  // Rivals have one thread.
  setenv("CALQUE_NUM_THREADS", "1", 0);
  setenv("CALQUE_CACHE_DIR", "off", 0);  // first calls are those of a new machine
  set_up_rivals(argv);
  // Our defaults come first, so that command-line flags override them.
  std::vector<std::string> arguments = {argv[0], "--benchmark_repetitions=9", "--benchmark_min_time=0.05",
                                        "--benchmark_enable_random_interleaving=true"};
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.starts_with("--sizes=")) {
      std::istringstream list(argument.substr(8));
      for (std::string size; std::getline(list, size, ',');) state().sizes.push_back(int64_t(std::stod(size)));
    } else if (argument.starts_with("--json=")) {
      state().json_file = argument.substr(7);
    } else {
      arguments.push_back(argument);
    }
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = int(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return EXIT_FAILURE;

  declare();
  calque::wait_for_compilation();  // of optimized code that first calls left pending
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::Shutdown();
  report();
  const auto measured = [](const Entry& entry) { return !entry.seconds.empty(); };
  if (std::none_of(state().entries.begin(), state().entries.end(), measured)) {
    std::cerr << argv[0] << ": no benchmark ran\n";
    return EXIT_FAILURE;
  }
  return state().failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace bench
