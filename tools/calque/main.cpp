// The command-line tool: text graphs in, text, values or code out; and the runner of conformance cases. Exit status: 0
// on success, 1 when a check fails (a case, a difference found by `run --check`, a ratio below that of `bench
// --against`), 2 for wrong input, 100 and above for a wrong command line. Errors are one line on standard error.
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "calque/checks.h"
#include "calque/commands.h"
#include "calque/device.h"
#include "calque/ir/errors.h"
#include "calque/version.h"

namespace calque::cli {
namespace {

constexpr const char* kIntroduction =
    R"(calque looks into what the Calque library compiles. A graph is a text file: what `std::cout << f.trace(x)` prints of
a function f, or written by hand. To begin, write this one into f.jaxpr:

  calque 1
  graph f(%0: f32[3]) {
    %1 = sin %0
    %2 = reduce_sum[axes=[0]] %1
    return %2
  }

and then

  calque run f.jaxpr --check          compiles and runs it on random numbers, and compares with the reference evaluator
  calque lower f.jaxpr                shows its kernels; --emit=asm shows the assembly
  calque opt f.jaxpr --grad --table   differentiates it
  calque info                         shows the version, this machine's target and devices, environment variables
  calque docs getting_started         prints a page of the documentation; `calque docs` lists them
  calque --help                       lists the commands; each has --help, with an example
)";

/// Text of --help that shows how a command is used.
void add_example(CLI::App* command, const std::string& lines, const std::string& more = {}) {
  command->footer("Example:\n" + lines + (more.empty() ? "" : "\n\n" + more));
}

/// Validates the value of --device, which may also be the reference evaluator.
CLI::Validator device_name(bool reference) {
  const std::string names = std::string(reference ? "reference, " : "") + "cpu, gpu_sim, gpu, gpu:N";
  const auto check = [reference, names](std::string& text) -> std::string {
    if (reference && text == "reference") return {};
    try {
      parse_device(text);
      return {};
    } catch (const DeviceError&) {
      return "'" + text + "' is none of " + names;
    }
  };
  return CLI::Validator(check, names);
}

/// Values from the command line, by option name.
using OptionValues = std::map<std::string, std::vector<std::string>>;

/// CLI11 passes "true" for a flag without a value.
std::string value_of(const std::string& flag, const std::string& value) {
  for (const TransformationFlag& t : transformation_flags()) {
    if (t.name != flag || *t.value != '\0') continue;
    if (value != "true") throw Error("opt: --" + flag + " takes no value, got " + value);
    return {};
  }
  return value;
}

/// The values in the order of the command line.
std::vector<std::pair<std::string, std::string>> in_order(const CLI::App& command, const OptionValues& all) {
  std::vector<std::pair<std::string, std::string>> steps;
  std::map<std::string, size_t> seen;
  for (const CLI::Option* option : command.parse_order()) {
    const std::string name = option->get_name().substr(2);
    const auto values = all.find(name);
    if (values != all.end()) steps.emplace_back(name, value_of(name, values->second.at(seen[name]++)));
  }
  return steps;
}

void add_opt(CLI::App& app, int& status) {
  auto options = std::make_shared<OptOptions>();
  auto values = std::make_shared<OptionValues>();
  CLI::App* command =
      app.add_subcommand("opt", "Runs passes and transformations over a text graph and prints the result");
  command->add_option("file", options->file, "The graph (.jaxpr); - is standard input")->required();
  command
      ->add_option("--pass", (*values)["pass"],
                   "Passes, separated by commas. They and the transformations run in the order in which they are given")
      ->allow_extra_args(false)
      ->check(not_empty);
  for (const TransformationFlag& t : transformation_flags()) {
    const std::string name = std::string("--") + t.name;
    const std::string alone = *t.value == '\0' ? "" : "{" + std::string(t.value) + "}";
    command->add_flag(name + alone, (*values)[t.name], t.doc)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  CLI::Option* kernel = command->add_flag(
      "--kernel", options->kernel,
      "The passes are those over plans, programs and kernels, of which the file holds one, as --print-after shows it");
  command
      ->add_option("--cpu", options->cpu,
                   "With --kernel: LLVM's name of the CPU for which passes choose; this machine's when absent")
      ->needs(kernel)
      ->check(not_empty);
  command->add_flag("--table", options->table, "Print a table in place of the text form");
  command->add_option("-o,--output", options->output, "Where the result is written; standard output when absent")
      ->check(writable_file);
  add_example(command, "  calque opt f.jaxpr --grad --pass=cse,dce        the gradient, without what it does not need",
              "Passes:" + list_of_passes());
  command->callback([command, options, values, &status] {
    options->steps = in_order(*command, *values);
    status = opt(*options);
  });
}

void add_run(CLI::App& app, int& status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Runs a text graph on numbers of a seed, or from files");
  command->add_option("file", options->file, "The graph (.jaxpr); - is standard input")->required();
  command->add_option("--device", options->device, "Where it runs")->check(device_name(true))->capture_default_str();
  command->add_option("--input", options->inputs, "NumPy files (.npy) for the first inputs, separated by commas")
      ->delimiter(',')
      ->check(not_empty);
  command->add_option("--seed", options->seed, "What the other inputs are drawn from")
      ->check(whole_number(0, UINT64_MAX))
      ->capture_default_str();
  CLI::Option* check =
      command->add_flag("--check", options->check, "Compare the results with the reference evaluator's");
  command
      ->add_option("--rtol", options->rtol,
                   "Relative tolerance of --check, in place of one for the coarsest rounding that may differ")
      ->needs(check)
      ->check(finite_number(false));
  command->add_option("--atol", options->atol, "Absolute tolerance of --check")
      ->needs(check)
      ->check(finite_number(false));
  command->add_flag("--time", options->time, "Print how long it takes to compile and to run");
  command->add_flag("--quiet", options->quiet, "Do not print the results");
  CLI::Option* strict = command->add_flag("--strict", options->compile.strict, "Compile without contraction");
  command->add_flag("--fast-math", options->compile.fast_math, "Compile with fast math")->excludes(strict);
  command->add_flag("--flush-subnormals", options->compile.flush_subnormals, "Compile with subnormals flushed to zero")
      ->excludes(strict);
  add_example(command, "  calque run f.jaxpr --seed=7 --check --time      right results, and how long they take");
  command->callback([options, &status] { status = run(*options); });
}

void add_lower(CLI::App& app, int& status) {
  auto options = std::make_shared<LowerOptions>();
  CLI::App* command = app.add_subcommand("lower", "Prints one stage of a text graph on its way to machine code");
  command->add_option("file", options->file, "The graph (.jaxpr), or with --from a dump; - is standard input");
  CLI::Option* emit = command->add_option(
      "--emit", options->emit,
      "plan: kernels and the steps of the entry; llvm: optimised LLVM IR; asm: assembly; ptx: code for a "
      "GPU; obj: an object file; dot: the graph for Graphviz");
  emit->check(CLI::IsMember({"plan", "llvm", "asm", "ptx", "obj", "dot"}))->capture_default_str();
  command
      ->add_option("--print-after", options->print_after,
                   "In place of --emit: the graph, plan, kernels, program or module after this pass")
      ->excludes(emit)
      ->check(not_empty);
  command
      ->add_option("--from", options->from,
                   "The file is what --print-after printed of this pass, a graph or a program: the passes after it run")
      ->check(not_empty);
  command->add_flag("--print-passes", options->print_passes,
                    "List the passes from a graph to code for --device, in order");
  command->add_option("--cpu", options->cpu, "LLVM's name of the CPU; this machine's when absent")->check(not_empty);
  command->add_option("--device", options->device, "cpu, or gpu for what a GPU gets")
      ->check(device_name(false))
      ->capture_default_str();
  command->add_option("--arch", options->arch, "Of PTX: sm_80 to sm_90a; the GPU's own, or sm_80, when absent")
      ->check(not_empty);
  command->add_option("--triple", options->triple, "LLVM's target triple; this machine's when absent")
      ->check(not_empty);
  command->add_option("-o,--output", options->output, "Where the result is written; standard output when absent")
      ->check(writable_file);
  command->add_flag("--strict", options->compile.strict, "Compile without contraction");
  command->add_flag("--fast-math", options->compile.fast_math, "Compile with fast math");
  command->add_flag("--flush-subnormals", options->compile.flush_subnormals, "Compile with subnormals flushed to zero");
  add_example(command,
              "  calque lower f.jaxpr --emit=asm --cpu=znver4    assembly for another CPU\n"
              "  calque lower f.jaxpr --print-after=fuse-reductions   after one of the passes (--print-passes)");
  command->callback([options, &status] { status = lower(*options); });
}

void add_conformance(CLI::App& app, int& status) {
  auto options = std::make_shared<ConformanceOptions>();
  CLI::App* command = app.add_subcommand("conformance", "Evaluates conformance cases and compares their results");
  command->add_option("--device", options->device, "Where cases run")->check(device_name(true))->capture_default_str();
  command->add_option("--only", options->only, "Run only the cases whose id contains this text")->check(not_empty);
  command->add_option("--id", options->id, "Run only the case of this id")->check(not_empty);
  command->add_option("--jobs", options->jobs, "Cases that run at once")->check(whole_number(1, 1024));
  command->add_flag("--graphs", options->show_graphs, "Print the graph of every case that gives a wrong result");
  command->add_option("files", options->files, "Files of cases, one JSON object a line (.jsonl)")->required();
  add_example(command, "  calque conformance cases.jsonl --device=cpu --only=sin");
  command->callback([options, &status] { status = conformance(*options); });
}

void add_info(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("info", "Prints versions, the target, devices and environment variables");
  add_example(command, "  calque info");
  command->callback([&status] { status = info(); });
}

void add_cache(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("cache", "Looks into the compiled code on disk (CALQUE_CACHE_DIR)");
  command->require_subcommand(1);
  add_example(command, "  CALQUE_CACHE_DIR=entries calque cache list");
  const std::pair<const char*, const char*> actions[] = {
      {"list", "Prints entries, the most recently used first"},
      {"info", "Prints the folder and its size"},
      {"clear", "Removes all entries"},
      {"verify", "Removes damaged entries; the exit status is 1 if there are any"}};
  for (const auto& [action, doc] : actions) {
    CLI::App* sub = command->add_subcommand(action, doc);
    add_example(sub, std::string("  calque cache ") + action);
    sub->callback([&status, name = std::string(action)] { status = cache(name); });
  }
}

void add_docs(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("docs", "Lists the pages of documentation, or prints one");
  auto page = std::make_shared<std::string>();
  command->add_option("page", *page, "The page, such as getting_started; the list when absent")->check(not_empty);
  add_example(command, "  calque docs getting_started | less");
  command->callback([page, &status] { status = docs(*page); });
}

/// Collects the words of a command and of those that belong to it.
void collect_words(const CLI::App& command, const std::string& name, std::vector<CommandWords>& all) {
  CommandWords words{name, {}, false};
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    words.words.push_back(sub->get_name());
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& spelling : option->get_lnames()) words.words.push_back("--" + spelling);
    if (option->get_positional()) words.files = words.files || option->get_name(true).starts_with("file");
  }
  all.push_back(words);
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    collect_words(*sub, name.empty() ? sub->get_name() : name + " " + sub->get_name(), all);
}

void add_completion(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("completion", "Prints the completion of this tool's command line for bash");
  add_example(command, "  source <(calque completion)");
  command->callback([&app, &status] {
    std::vector<CommandWords> commands;
    collect_words(app, "", commands);
    status = completion(commands);
  });
}

void add_bench(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "bench", "Runs the benchmark programs; prints a table, writes their figures (JSON) and a page (HTML)");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("case", options->cases, "cases to run (default: all)");
  command->add_option("--programs", options->programs, "folder of the programs bench_CASE")
      ->check(CLI::ExistingDirectory);
  command->add_option("--json", options->json, "figures (default: DATE-cpu.json)")->check(writable_file);
  command->add_option("--html", options->page, "page (default: DATE-cpu.html)")->check(writable_file);
  command
      ->add_option("--merge", options->merge,
                   "figures of rivals in other processes (tools/python/rivals.py, gpu_rivals.py)")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--from", options->from,
                   "runs nothing, reports the figures of this file (with --device: of devices)")
      ->check(CLI::ExistingFile);
  CLI::Option* chart = command
                           ->add_option("--chart", options->chart,
                                        "a chart (SVG) of the speed against the best rival; with --from no page is "
                                        "written then, unless --html is given")
                           ->check(writable_file);
  command
      ->add_option("--row", options->chart_rows,
                   "with --chart: a row of it as \"LABEL=CASE, SIZE\" (default: all rows that have a rival)")
      ->allow_extra_args(false)
      ->needs(chart);
  CLI::Option* against =
      command
          ->add_option("--against", options->against,
                       "compares the ratios to rivals and limits with those of this earlier run (JSON); prints what "
                       "fell, and the exit status is 1 if anything did")
          ->check(CLI::ExistingFile);
  command->add_option("--against-tolerance", options->tolerance, "by how many percent a ratio may fall")
      ->needs(against)
      ->check(finite_number(false))
      ->capture_default_str();
  command->add_option("--pass", options->arguments, "an argument for the programs, such as --benchmark_repetitions=3");
  CLI::Option* device = command->add_option(
      "--device", options->on_devices.devices,
      "compares devices, the first with the others (cpu,gpu), on built-in cases or on files of graphs");
  device->delimiter(',')->allow_extra_args(false)->check(device_name(false));
  constexpr uint64_t kMostElements = INT64_MAX;
  command
      ->add_option("--largest", options->on_devices.largest, "with --device: elements of the largest arrays of a sweep")
      ->needs(device)
      ->check(whole_number(1, kMostElements));
  command->add_option("--elements", options->on_devices.sizes, "with --device: sizes (1024,...) in place of a sweep")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(device)
      ->check(whole_number(1, kMostElements));
  command->add_option("--seconds", options->on_devices.seconds, "with --device: of measuring each figure")
      ->needs(device)
      ->check(finite_number(true));
  command->add_flag("--list", options->list, "prints the names of the cases");
  add_example(command,
              "  calque bench softmax sum --json=figures.json    two cases beside their rivals\n"
              "  calque bench --from=figures.json --chart=speed.svg --row=\"Sums=sum, 10^8\"    a chart of them\n"
              "  calque bench --device=cpu,gpu f.jaxpr           a graph of yours on two devices");
  command->callback([options, &status] { status = bench(*options); });
}

/// Throws for a command that does not exist: CLI11 would only say that the arguments were not expected.
void check_command(CLI::App& app, int argc, char** argv, int at = 1) {
  if (at >= argc || *argv[at] == '-' || app.get_subcommands({}).empty()) return;
  std::vector<std::string_view> names;
  for (CLI::App* command : app.get_subcommands({})) {
    if (command->check_name(argv[at])) return check_command(*command, argc, argv, at + 1);
    names.push_back(command->get_name());
  }
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  throw CLI::ExtrasError(
      "there is no command '" + std::string(argv[at]) + "'" + suggestion(argv[at], names) + "; the commands are " + all,
      CLI::ExitCodes::ExtrasError);
}

}  // namespace
}  // namespace calque::cli

int main(int argc, char** argv) {
  using namespace calque::cli;
  CLI::App app("Looks into, lowers and runs graphs of the Calque library, and checks its answers", "calque");
  app.require_subcommand(1);
  app.set_version_flag("--version", "calque " CALQUE_VERSION, "Print the version and exit");
  add_example(&app, "  calque run f.jaxpr --check");
  int status = 0;
  add_opt(app, status);
  add_run(app, status);
  add_lower(app, status);
  add_conformance(app, status);
  add_info(app, status);
  add_cache(app, status);
  add_bench(app, status);
  add_docs(app, status);
  add_completion(app, status);
  if (argc == 1) {
    std::cout << kIntroduction;
    return 0;
  }
  try {
    check_command(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::cerr << "calque: " << e.what() << '\n';
    return 2;
  }
  return status;
}
