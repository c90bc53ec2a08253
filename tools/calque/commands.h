#pragma once
// The subcommands of `calque`: functions of their options, which return the exit status. main.cpp reads the
// options; it alone includes CLI11, whose headers cost every file that includes them seconds of compile time.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compile/executable.h"

namespace calque::cli {

struct OptOptions {
  std::string file, output, cpu;
  /// Transformations by name, and lists of passes under the name `pass`, with their values: in the order given.
  std::vector<std::pair<std::string, std::string>> steps;
  bool table = false, kernel = false;
};

struct RunOptions {
  std::string file, device = "cpu";
  std::vector<std::string> inputs;
  uint64_t seed = 0;
  bool check = false, time = false, quiet = false;
  runtime::CompileOptions compile;
  double rtol = -1, atol = -1;
};

struct LowerOptions {
  std::string file, output, emit = "plan", cpu, triple, device = "cpu", arch, print_after, from;
  bool print_passes = false;
  runtime::CompileOptions compile;
};

struct ConformanceOptions {
  std::vector<std::string> files;
  std::string device = "cpu";
  std::string only, id;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool show_graphs = false;
};

struct DeviceBenchOptions {
  std::vector<std::string> devices;
  std::vector<std::string> cases;   ///< built-in cases; empty: all, unless there are graphs
  std::vector<std::string> graphs;  ///< graph files
  std::vector<int64_t> sizes;       ///< elements of the arrays; empty: a sweep
  int64_t largest = 0;              ///< elements of the largest arrays of a sweep; 0: by device
  double seconds = 0.2;             ///< time budget of each figure
};

struct BenchOptions {
  std::vector<std::string> cases, arguments, merge;
  std::string programs, json, page, from, against, chart;
  std::vector<std::string> chart_rows;  ///< LABEL=CASE, SIZE
  double tolerance = 10;                ///< of `against`, in percent
  bool list = false;
  DeviceBenchOptions on_devices;
};

int opt(const OptOptions& options);
int run(const RunOptions& options);
int lower(const LowerOptions& options);
int conformance(const ConformanceOptions& options);
int info();
/// `action`: list, info, clear or verify.
int cache(const std::string& action);
int bench(const BenchOptions& options);
/// Prints a page of the documentation, or the list of pages when the name is empty.
int docs(const std::string& name);

/// What the completion of the shell knows of a command.
struct CommandWords {
  std::string name;                ///< with the command that it belongs to: `cache list`; empty: the tool itself
  std::vector<std::string> words;  ///< commands and options
  bool files = false;              ///< its arguments are files
};
/// Prints a script for bash, which completes commands, options, and values of the options that have a few.
int completion(const std::vector<CommandWords>& commands);

/// An option of `calque opt` that applies a transformation: its name, its value when given without one (empty: it takes
/// none), and what it does.
struct TransformationFlag {
  const char *name, *value, *doc;
};
std::span<const TransformationFlag> transformation_flags();

/// The passes of `calque opt` with what they do.
std::string list_of_passes();

}  // namespace calque::cli
