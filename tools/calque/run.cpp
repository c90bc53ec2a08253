// `calque run`: runs a text graph on data from files or from a seed. `--check` compares with the reference evaluator.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <random>

#include "calque/array.h"
#include "calque/check.h"
#include "calque/commands.h"
#include "calque/compare.h"
#include "calque/executor.h"
#include "calque/files.h"

#include "compile/executable.h"
#include "reference/evaluate.h"

namespace calque::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<AnyArray> inputs_of(const Graph& graph, const RunOptions& options) {
  if (options.inputs.size() > graph.inputs().size()) {
    throw Error("run: the graph has " + std::to_string(graph.inputs().size()) + " inputs, got " +
                std::to_string(options.inputs.size()) + " files");
  }
  std::mt19937_64 bits(options.seed);
  std::vector<AnyArray> arrays;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& type = graph.type(graph.inputs()[i]);
    if (i >= options.inputs.size()) {
      arrays.push_back(random_array(type, bits));
      continue;
    }
    arrays.push_back(detail::load_npy(options.inputs[i], type.dtype, {}));
    if (arrays.back().type() != type) {
      throw ShapeError("run: input " + std::to_string(i) + " is " + to_string(type) + ", got " +
                       to_string(arrays.back().type()) + " from " + options.inputs[i]);
    }
  }
  return arrays;
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-3) {
    std::snprintf(text, sizeof text, "%.2f us", seconds * 1e6);
  } else if (seconds < 1) {
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  }
  return text;
}

runtime::CompileOptions compile_options(const RunOptions& options) {
  runtime::CompileOptions compile = options.compile;
  compile.reference = options.device == "reference";
  if (!compile.reference) compile.device = parse_device(options.device);
  return compile;
}

/// The median time of a run, over half a second and at least five runs.
void print_times(const Executor& runner, const std::vector<AnyArray>& arrays, double compile_seconds) {
  const std::vector<AnyArray> inputs = runner.to_device(arrays);
  std::vector<double> times;
  for (const auto start = Clock::now(); times.size() < 5 || (seconds_since(start) < 0.5 && times.size() < 100'000);) {
    const auto begin = Clock::now();
    runner(inputs);
    synchronize();
    times.push_back(seconds_since(begin));
  }
  std::ranges::nth_element(times, times.begin() + static_cast<ptrdiff_t>(times.size() / 2));
  std::cout << "compiled in " << time_text(compile_seconds) << ", runs in " << time_text(times[times.size() / 2])
            << " (median of " << times.size() << ")\n";
}

int check(const Graph& graph, const std::vector<AnyArray>& inputs, const std::vector<AnyArray>& results,
          const RunOptions& options) {
  const std::vector<AnyArray> expected =
      reference::evaluate(graph, inputs, runtime::reference_options(options.compile));
  const std::vector<std::optional<DType>> roundings = open_roundings(graph, options.compile);
  int wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    Tolerance tolerance = tolerance_of(roundings[i]);
    if (options.rtol >= 0 || options.atol >= 0) tolerance.kind = Tolerance::Kind::relative;
    if (options.rtol >= 0) tolerance.rtol = options.rtol;
    if (options.atol >= 0) tolerance.atol = options.atol;
    const std::string text = difference(results[i], expected[i], tolerance);
    if (text.empty()) {
      if (!options.quiet)
        std::cout << "check: output " << i << " agrees "
                  << (roundings[i] ? "within roundings of " + std::string(name(*roundings[i])) : "bit for bit") << "\n";
      continue;
    }
    std::cout << "check: output " << i << ": " << text << "\n";
    ++wrong;
  }
  if (wrong == 0) std::cout << "check: agrees with the reference evaluator\n";
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int run(const RunOptions& options) {
  const Graph graph = read_graph(options.file);
  const std::vector<AnyArray> inputs = inputs_of(graph, options);
  const auto start = Clock::now();
  const Executor runner("run", graph, compile_options(options));
  const double compile_seconds = seconds_since(start);
  const std::vector<AnyArray> results = runner(inputs);
  if (!options.quiet) {
    for (size_t i = 0; i < results.size(); ++i) {
      std::cout << "output " << i << ", " << results[i].type() << ":\n" << results[i] << "\n";
    }
  }
  if (options.time) print_times(runner, inputs, compile_seconds);
  return options.check ? check(graph, inputs, results, options) : 0;
}

}  // namespace calque::cli
