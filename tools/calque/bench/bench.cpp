// `calque bench`: runs the programs of bench/ one after the other, merges their figures and reports them.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calque/bench/bench_against.h"
#include "calque/bench/bench_devices.h"
#include "calque/bench/bench_report.h"
#include "calque/commands.h"
#include "calque/progress.h"
#include "calque/version.h"

#include "codegen/codegen.h"

namespace calque::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// bench/ next to bin/ in a build tree, libexec/calque/bench next to bin/ in an installation.
fs::path program_folder(const BenchOptions& options) {
  if (!options.programs.empty()) return options.programs;
  const fs::path root = fs::canonical("/proc/self/exe").parent_path().parent_path();
  for (const fs::path& folder : {root / "bench", root / "libexec" / "calque" / "bench"})
    if (fs::is_directory(folder)) return folder;
  throw std::runtime_error("bench: no benchmark programs next to " + root.string() +
                           "; build them (tools/bench, or the target `bench`), or give --programs");
}

/// Names of the cases whose programs are in the folder.
std::vector<std::string> known_cases(const fs::path& folder) {
  const std::string prefix = "bench_";
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && entry.is_regular_file() && access(entry.path().c_str(), X_OK) == 0)
      names.push_back(name.substr(prefix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Runs the program and waits for it; throws when it fails.
void run_program(const fs::path& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program.string());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("bench: " + program.string() + " failed");
}

Json read_json(const fs::path& path) {
  std::ifstream in(path);
  Json document = Json::parse(in, nullptr, false);
  if (document.is_discarded()) throw std::runtime_error("bench: " + path.string() + ": cannot be read, or is no JSON");
  return document;
}

/// Replaces the file atomically.
void replace_file(const fs::path& path, const std::string& text) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  const fs::path unfinished = path.string() + ".unfinished";
  {
    std::ofstream out(unfinished);
    out << text;
    if (!out.flush()) throw std::runtime_error("bench: cannot write " + unfinished.string());
  }
  fs::rename(unfinished, path);
}

void write(const fs::path& path, const std::string& text) {
  replace_file(path, text);
  std::cout << "written to " << path.string() << '\n';
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now));
  return text;
}

/// A document without figures: date, machine and versions.
Json header() {
  utsname system{};
  uname(&system);
  return {{"date", today()},
          {"cores", std::thread::hardware_concurrency()},
          {"system", std::string(system.sysname) + " " + system.release + " " + system.machine},
          {"versions", {{"Calque", CALQUE_VERSION}, {"LLVM", codegen::llvm_version()}}},
          {"probes", Json::object()},
          {"skipped", Json::array()},
          {"results", Json::array()}};
}

void merge(Json& all, const Json& part) {
  for (const char* key : {"machine", "compiler"})
    if (part.contains(key)) all[key] = part[key];
  for (const char* key : {"versions", "probes"})
    if (part.contains(key)) all[key].update(part[key]);
  for (const char* key : {"skipped", "results"})
    if (part.contains(key)) all[key].insert(all[key].end(), part[key].begin(), part[key].end());
}

/// Adds rivals that ran in a separate process. Floor and work are copied from our row of the same task and size; a row
/// without a counterpart is dropped.
void merge_rivals(Json& all, Json part) {
  Json matched = Json::array();
  for (Json& row : part.at("results")) {
    for (const Json& ours : all["results"]) {
      if (ours["task"] != row["task"] || ours["size"] != row["size"]) continue;
      for (const char* key : {"floor", "floor_seconds", "flops", "bytes"})
        if (ours.contains(key)) row[key] = ours[key];
      if (row.contains("floor_seconds"))
        row["of_floor"] = row["floor_seconds"].get<double>() / row["median_seconds"].get<double>();
      matched.push_back(row);
      break;
    }
  }
  part["results"] = matched;
  merge(all, part);
}

/// Prints how the ratios compare with those of an earlier run, if one is given. Returns 1 if one fell.
int report_against(const Json& all, const Json& earlier, const BenchOptions& options) {
  if (options.against.empty()) return 0;
  const AgainstEarlier result = compare_with_earlier(all, earlier, options.against, options.tolerance / 100);
  std::cout << '\n' << result.text;
  if (result.compared == 0) throw std::runtime_error("bench: this run shares no ratio with " + options.against);
  return result.fallen != 0 ? 1 : 0;
}

Json measure(const BenchOptions& options) {
  const fs::path folder = program_folder(options);
  const std::vector<std::string> known = known_cases(folder);
  for (const std::string& name : options.cases)
    if (!std::count(known.begin(), known.end(), name))
      throw std::runtime_error("bench: no program of case '" + name + "' in " + folder.string());
  const fs::path scratch = fs::temp_directory_path() / ("calque_bench_" + std::to_string(getpid()) + ".json");
  Json all = header();
  const std::vector<std::string>& chosen = options.cases.empty() ? known : options.cases;
  Progress progress(chosen.size(), "cases");
  for (const std::string& name : chosen) {
    std::cout << "\n" << name << std::endl;
    progress.announce();
    std::vector<std::string> arguments = options.arguments;
    arguments.push_back("--json=" + scratch.string());
    run_program(folder / ("bench_" + name), arguments);
    progress.step();
    merge(all, read_json(scratch));
    fs::remove(scratch);
  }
  return all;
}

/// Figures that were read before anything was measured.
struct Given {
  std::vector<Json> rivals;
  Json earlier;
};

/// Adds rivals and writes all files. Returns 1 when a case failed or a ratio fell.
int finish_devices(Json all, const BenchOptions& options, const Given& given, const fs::path& figures) {
  for (const Json& figures_of_rivals : given.rivals) merge_device_rivals(all, figures_of_rivals);
  std::cout << '\n';
  write(figures, all.dump(1) + "\n");
  write(options.page.empty() ? fs::path(all.value("date", today()) + "-devices.html") : fs::path(options.page),
        device_page(all));
  const auto failed = [](const Json& c) { return c.contains("error"); };
  const int fell = report_against(all, given.earlier, options);
  return std::any_of(all["cases"].begin(), all["cases"].end(), failed) ? 1 : fell;
}

/// Adds rivals to device figures that were measured before.
int merge_into_devices(const BenchOptions& options, const Given& given) {
  return finish_devices(read_json(options.from), options, given,
                        options.json.empty() ? fs::path(options.from) : fs::path(options.json));
}

/// Cases are built-in names or graph files.
int compare_devices(BenchOptions options, const Given& given) {
  const std::vector<std::string> known = device_cases();
  for (const std::string& name : options.cases) {
    const bool is_case = std::find(known.begin(), known.end(), name) != known.end();
    if (!is_case && !fs::exists(name))
      throw std::runtime_error("bench: '" + name + "' is neither a case (--list names them) nor a file of a graph");
    (is_case ? options.on_devices.cases : options.on_devices.graphs).push_back(name);
  }
  if (options.list) {
    for (const std::string& name : known) std::cout << name << '\n';
    return 0;
  }
  Json all = header();
  all.erase("results");
  all.erase("probes");
  const std::string stem = all.value("date", today()) + "-devices";
  const fs::path figures = options.json.empty() ? fs::path(stem + ".json") : fs::path(options.json);
  const auto with = [&](const Json& measured, bool complete) {
    Json document = all;
    document.update(measured);
    document["complete"] = complete;
    return document;
  };
  const Json measured = bench_devices(
      options.on_devices, [&](const Json& part) { replace_file(figures, with(part, false).dump(1) + "\n"); });
  return finish_devices(with(measured, true), options, given, figures);
}

}  // namespace

int bench(const BenchOptions& options) {
  Given given;  // read first: measuring takes long
  for (const std::string& path : options.merge) given.rivals.push_back(read_json(path));
  if (!options.against.empty()) {
    if (options.tolerance >= 100) throw std::runtime_error("bench: --against-tolerance of 100 % finds nothing");
    given.earlier = read_json(options.against);
    check_figures(given.earlier, options.against);
  }
  if (!options.on_devices.devices.empty()) {
    if (!options.chart.empty()) throw std::runtime_error("bench: --chart is of rivals, not of devices");
    return options.from.empty() ? compare_devices(options, given) : merge_into_devices(options, given);
  }
  if (options.list) {
    for (const std::string& name : known_cases(program_folder(options))) std::cout << name << '\n';
    return 0;
  }
  Json all = options.from.empty() ? measure(options) : read_json(options.from);
  for (Json& figures : given.rivals) merge_rivals(all, std::move(figures));
  std::cout << '\n' << bench_table(bench_rows(all)) << '\n';
  const std::string stem = all.value("date", today()) + "-cpu";
  if (options.from.empty() || !options.merge.empty())
    write(options.json.empty() ? fs::path(stem + ".json") : fs::path(options.json), all.dump(1) + "\n");
  if (!options.chart.empty()) write(options.chart, bench_chart(all, options.chart_rows));
  if (options.from.empty() || options.chart.empty() || !options.page.empty())
    write(options.page.empty() ? fs::path(stem + ".html") : fs::path(options.page), bench_page(all));
  return report_against(all, given.earlier, options);
}

}  // namespace calque::cli
