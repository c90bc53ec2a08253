// Times the first call of every function with NumPy's, jax.nn's and jax.lax's names: trace, compilation and first run.
// Prints the slowest ones and what their compilations spent the time on.
//
//   bench_first_calls [--repetitions=N] [--show=N] [--limit=MILLISECONDS] [--json=FILE] [NAME...]
//
// A figure is the median of N (5) processes, which have compiled other programs and call the functions one after the
// other: the compiler is warm. A mathematical function is compiled for the first function that needs it, which is the
// one of that name. Shows the N (20) slowest functions, or all above the limit.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <calque/calque.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

namespace cq = calque;
using first_calls::Call;
using first_calls::Inputs;

namespace {

struct Arguments {
  cq::Array<float> x, y, sorted, m, n, few;
  cq::Array<int32_t> i, j;
  cq::Array<bool> mask;
  cq::random::Key key;
};

/// Numbers in (-1, 1) without an order, which never repeat.
float number(int64_t k) {
  const double turns = 0.6180339887498949 * static_cast<double>(k + 1);
  return static_cast<float>(2 * (turns - std::floor(turns)) - 1);
}

Arguments make_arguments() {
  constexpr int64_t kLength = 1000, kSide = 64, kFew = 8;
  std::vector<float> x, y, sorted, m, n, few;
  std::vector<int32_t> i, j;
  for (int64_t k = 0; k < kLength; ++k) {
    x.push_back(number(k));
    y.push_back(number(k + kLength));
    sorted.push_back(static_cast<float>(k + 1) / (kLength + 1));
    i.push_back(static_cast<int32_t>(k * 7 % kSide));
    j.push_back(static_cast<int32_t>(k * 5 % 60 + 1));
  }
  for (int64_t k = 0; k < kSide * kSide; ++k) {
    m.push_back(number(k));
    n.push_back(number(k + 17));
  }
  for (int64_t k = 0; k < kFew; ++k) few.push_back(number(k));
  const auto vector = [](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    return cq::Array<T>::from(std::span<const T>(values), {static_cast<int64_t>(values.size())});
  };
  return {vector(x),   vector(y), vector(sorted), vector(m).reshape({kSide, kSide}), vector(n).reshape({kSide, kSide}),
          vector(few), vector(i), vector(j),      cq::Array<bool>(vector(i) > 31),   cq::random::key(0)};
}

struct Measurement {
  double milliseconds = 0;
  std::string log;  ///< what `CALQUE_LOG=compile` wrote
};

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "bench_first_calls: %s\n", why.c_str());
  std::exit(EXIT_FAILURE);
}

/// Traces, compiles and runs a program of one function.
std::vector<cq::AnyArray> call_first(const Call& call, const Arguments& a, const cq::JitOptions& options) {
  const auto f = cq::jit(
      [body = call.body](cq::Tracer<float> x, cq::Tracer<float> y, cq::Tracer<float> sorted, cq::Tracer<float> m,
                         cq::Tracer<float> n, cq::Tracer<float> few, cq::Tracer<int32_t> i, cq::Tracer<int32_t> j,
                         cq::Tracer<bool> mask, cq::random::BasicKey<cq::Tracer<uint32_t>> key) {
        return body({x, y, sorted, m, n, few, i, j, mask, key});
      },
      options);
  return f(a.x, a.y, a.sorted, a.m, a.n, a.few, a.i, a.j, a.mask, a.key);
}

/// The first calls of all programs in a process of their own, one after the other.
std::vector<Measurement> measure(const std::vector<Call>& calls, const Arguments& arguments) {
  FILE* log = std::tmpfile();
  FILE* figures = std::tmpfile();
  if (log == nullptr || figures == nullptr) fail("no temporary files");
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(log), STDERR_FILENO);
    // What the first compilations of a process set up is no function's. Programs with other options are other programs.
    for (auto list : {first_calls::orders, first_calls::arrangements})
      for (const Call& call : list()) call_first(call, arguments, {.fast_math = true});
    if (ftruncate(STDERR_FILENO, 0) != 0 || lseek(STDERR_FILENO, 0, SEEK_SET) != 0) _exit(EXIT_FAILURE);
    for (const Call& call : calls) {
      const auto start = std::chrono::steady_clock::now();
      const auto results = call_first(call, arguments, {});
      const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      std::fprintf(figures, "%.17g %ld\n", ms, static_cast<long>(lseek(STDERR_FILENO, 0, SEEK_CUR)));
    }
    std::fflush(figures);
    _exit(EXIT_SUCCESS);
  }
  int status = EXIT_FAILURE;
  if (child > 0) waitpid(child, &status, 0);
  std::rewind(log);
  std::rewind(figures);
  std::vector<Measurement> out(calls.size());
  long begin = 0, end = 0;
  for (Measurement& m : out) {
    if (std::fscanf(figures, "%lf %ld", &m.milliseconds, &end) != 2) break;
    m.log.resize(static_cast<size_t>(end - begin));
    if (std::fread(m.log.data(), 1, m.log.size(), log) != m.log.size()) break;
    begin = end;
  }
  if (status != 0) fail("a first call failed");
  std::fclose(log);
  std::fclose(figures);
  return out;
}

struct Row {
  const Call* call;
  std::vector<Measurement> measurements;
  const Measurement& median() const { return measurements[measurements.size() / 2]; }
};

/// The passes of a compilation that took a twentieth of a millisecond or more, from the lines of the log.
std::string long_passes(const std::string& log) {
  std::string out;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    std::string shown;
    std::istringstream passes(line.substr(std::min(line.size(), line.find("modules: ") + 9)));
    for (std::string pass; std::getline(passes, pass, ',');)
      if (const size_t space = pass.rfind(' '); space != std::string::npos && pass.find("in all") == std::string::npos)
        if (std::atof(pass.c_str() + space) >= 0.05) shown += pass;
    const size_t kernels = line.find("equations, ");
    if (kernels == std::string::npos) continue;
    out += " |" + line.substr(line.rfind(' ', kernels - 2), line.find(" kernels") + 8 - line.rfind(' ', kernels - 2)) +
           ":" + shown;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  int repetitions = 5;
  size_t show = 20;
  double limit = 0;
  std::string json;
  std::vector<std::string> names;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    const auto option = [&](const char* name) {
      const size_t length = std::strlen(name);
      return argument.compare(0, length, name) == 0 ? argument.c_str() + length : nullptr;
    };
    if (const char* value = option("--repetitions=")) {
      repetitions = std::max(1, std::atoi(value));
    } else if (const char* value = option("--show=")) {
      show = static_cast<size_t>(std::atoi(value));
    } else if (const char* value = option("--limit=")) {
      limit = std::atof(value);
    } else if (const char* value = option("--json=")) {
      json = value;
    } else if (argument.starts_with("--")) {
      fail("unknown option " + argument);
    } else {
      names.push_back(argument);
    }
  }
  setenv("CALQUE_NUM_THREADS", "1", 0);
  setenv("CALQUE_CACHE_DIR", "off", 0);
  setenv("CALQUE_LOG", "compile", 0);

  std::vector<Call> calls;
  for (auto list : {first_calls::elementwise, first_calls::special, first_calls::reductions, first_calls::layers,
                    first_calls::orders, first_calls::arrangements})
    for (Call& c : list())
      if (names.empty() || std::find(names.begin(), names.end(), c.name) != names.end()) calls.push_back(std::move(c));
  for (const std::string& name : names)
    if (std::none_of(calls.begin(), calls.end(), [&](const Call& c) { return c.name == name; }))
      fail("no function " + name);
  const Arguments arguments = make_arguments();
  std::vector<Row> rows;
  for (const Call& c : calls) rows.push_back({&c, {}});
  for (int k = 0; k < repetitions; ++k) {
    std::vector<Measurement> measured = measure(calls, arguments);
    for (size_t r = 0; r < rows.size(); ++r) rows[r].measurements.push_back(std::move(measured[r]));
  }
  const auto faster = [](const Measurement& a, const Measurement& b) { return a.milliseconds < b.milliseconds; };
  for (Row& row : rows) std::sort(row.measurements.begin(), row.measurements.end(), faster);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return faster(b.median(), a.median()); });

  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  std::printf("%-28s%10s   kernels: passes of 0.05 ms and more\n", "first call of", "ms");
  for (size_t k = 0; k < rows.size(); ++k) {
    const Measurement& m = rows[k].median();
    if (limit > 0 ? m.milliseconds < limit : k >= show) break;
    std::printf("%-28s%10.2f  %s\n", rows[k].call->name.c_str(), m.milliseconds, long_passes(m.log).c_str());
    results.push_back({{"task", "first call of " + rows[k].call->name},
                       {"size", "1000"},
                       {"variant", "calque"},
                       {"median_seconds", 1e-3 * m.milliseconds}});
    for (const Measurement& each : rows[k].measurements) results.back()["seconds"].push_back(1e-3 * each.milliseconds);
  }
  std::printf("%zu functions\n", rows.size());
  if (json.empty()) return EXIT_SUCCESS;
  std::ofstream out(json);
  out << nlohmann::ordered_json{{"results", results}}.dump(2) << '\n';
  if (!out.flush()) fail("cannot write " + json);
}
