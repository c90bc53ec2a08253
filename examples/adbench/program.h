#pragma once
// Shared by the ADBench programs: command line, timing, output of results.
//   NAME INPUT [--output FILE] [--repeat N] [--replicate]
// They print one line on the standard output: `objective_us X jacobian_us Y compile_ms Z`. The exit status is 1 when
// something cannot be read or written, 2 for a command line that is wrong.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <calque/calque.h>

namespace adbench {
namespace cq = calque;

/// The command line.
struct Options {
  std::string input, output;
  int repeat = 10;
  bool replicate = false;
};

/// A result, with the microseconds of the call that traced and compiled and the median of later ones.
template <class R>
struct Timed {
  R result;
  double first, median;
};

/// Calls a function once, then times `repeat` more calls.
template <class F>
auto timed(const F& call, int repeat) {
  const auto microseconds = [&](auto& result) {
    const auto start = std::chrono::steady_clock::now();
    result = call();
    cq::synchronize();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  };
  decltype(call()) result;
  const double first = microseconds(result);
  std::vector<double> times(static_cast<size_t>(repeat));
  for (double& time : times) time = microseconds(result);
  const auto middle = times.begin() + repeat / 2;
  std::nth_element(times.begin(), middle, times.end());
  return Timed<decltype(call())>{std::move(result), first, *middle};
}

/// The times that a program prints.
struct Report {
  double objective_us, jacobian_us, compile_ms;

  template <class F, class J>
  Report(const Timed<F>& objective, const Timed<J>& jacobian)
      : objective_us(objective.median),
        jacobian_us(jacobian.median),
        compile_ms(std::max(0.0, objective.first - objective.median + jacobian.first - jacobian.median) / 1000) {}
};

/// Writes numbers with 17 digits, which identify every double. Without a path, writes nothing.
class Writer {
 public:
  /// Throws std::runtime_error when the file cannot be written.
  explicit Writer(const std::string& path) : path_(path) {
    if (path_.empty()) return;
    file_.open(path_);
    if (!file_) throw std::runtime_error(path_ + ": cannot be written");
    file_ << std::setprecision(std::numeric_limits<double>::max_digits10);
  }
  /// Writes values on one line.
  template <class T, class... R>
  void line(const T& first, const R&... rest) {
    if (!file_.is_open()) return;
    file_ << first;
    ((file_ << ' ' << rest), ...);
    file_ << '\n';
  }
  /// Writes one line for each of the first `count` elements.
  void lines(const cq::Array<double>& values, int64_t count = std::numeric_limits<int64_t>::max()) {
    for (const double value : values.host().first(static_cast<size_t>(std::min(count, values.size())))) line(value);
  }
  void close() {
    if (!file_.is_open()) return;
    file_.close();
    if (!file_) throw std::runtime_error(path_ + ": cannot be written");
  }

 private:
  std::string path_;
  std::ofstream file_;
};

/// The error of a malformed command line.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline Options parse(int argc, char** argv, bool replicates) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&]() -> std::string {
      if (++i == argc) throw UsageError(argument + ": expected a value");
      return argv[i];
    };
    if (argument == "--output") {
      options.output = value();
      if (options.output.empty()) throw UsageError("--output: expected the name of a file");
    } else if (argument == "--repeat") {
      const std::string text = value();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.repeat);
      if (error != std::errc() || end != text.data() + text.size() || options.repeat < 1) {
        throw UsageError("--repeat: expected a number of at least 1, got '" + text + "'");
      }
    } else if (argument == "--replicate" && replicates) {
      options.replicate = true;
    } else if (argument.starts_with("-")) {
      throw UsageError(argument + ": there is no such option");
    } else if (!options.input.empty()) {
      throw UsageError("expected one input, got '" + options.input + "' and '" + argument + "'");
    } else {
      options.input = argument;
    }
  }
  if (options.input.empty()) throw UsageError("expected an input");
  return options;
}

/// The main function: `run(options)` returns a Report. `replicates` says whether there is an option --replicate.
template <class Run>
int main(int argc, char** argv, const std::string& name, const Run& run, bool replicates = false) {
  try {
    const Report report = run(parse(argc, argv, replicates));
    std::cout << std::fixed << std::setprecision(3) << "objective_us " << report.objective_us << " jacobian_us "
              << report.jacobian_us << " compile_ms " << report.compile_ms << std::endl;
    return 0;
  } catch (const UsageError& error) {
    std::cerr << name << ": " << error.what() << "\nusage: " << name << " INPUT [--output FILE] [--repeat N]"
              << (replicates ? " [--replicate]" : "") << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace adbench
