// `calque opt`: text graph in, passes, text graph out.
#include <sstream>

#include "calque/commands.h"
#include "calque/files.h"
#include "calque/ir/errors.h"

#include "math/expand.h"
#include "transform/passes.h"

namespace calque::cli {
namespace {

struct Options {
  std::string file, output;
  std::vector<std::string> passes;
  bool table = false;
};

/// Of the layer above the other passes.
constexpr transform::Pass kExpand{"expand", "writes transcendental functions as basic primitives", &math::expand};

std::vector<transform::Pass> all_passes() {
  std::vector<transform::Pass> all(transform::passes().begin(), transform::passes().end());
  all.push_back(kExpand);
  return all;
}

std::string list_of_passes() {
  std::ostringstream out;
  for (const transform::Pass& pass : all_passes()) {
    out << "\n  " << pass.name << std::string(pass.name.size() < 14 ? 14 - pass.name.size() : 1, ' ') << pass.doc;
  }
  return out.str();
}

transform::Pass pass_named(const std::string& name) {
  std::string names;
  for (const transform::Pass& pass : all_passes()) {
    if (pass.name == name) return pass;
    names += (names.empty() ? "" : ", ") + std::string(pass.name);
  }
  throw Error("opt: there is no pass " + name + ", expected one of " + names);
}

int opt(const Options& options) {
  std::vector<transform::Pass> passes;
  for (const std::string& name : options.passes) passes.push_back(pass_named(name));
  Graph graph = read_graph(options.file);
  for (const transform::Pass& pass : passes) {
    graph = transform::run_pass(pass, graph);
    graph.verify(pass.name);
  }
  std::ostringstream out;
  if (options.table) {
    graph.print_tabular(out);
  } else {
    out << graph;
  }
  write_text(options.output, out.str());
  return 0;
}

}  // namespace

void add_opt(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("opt", "Runs passes over a text graph and prints the result");
  command->add_option("file", options->file, "The graph (.jaxpr); - is standard input")->required();
  command->add_option("--pass", options->passes, "Passes in the order in which they run, separated by commas")
      ->delimiter(',');
  command->add_flag("--table", options->table, "Print a table in place of the text form");
  command->add_option("-o,--output", options->output, "Where the result is written; standard output when absent");
  command->footer("Passes:" + list_of_passes());
  command->callback([options, &status] { status = opt(*options); });
}

}  // namespace calque::cli
