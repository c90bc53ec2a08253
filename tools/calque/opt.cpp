// `calque opt`: text graph in, passes and transformations, text graph out.
#include <charconv>
#include <map>
#include <sstream>

#include "calque/case_transforms.h"
#include "calque/commands.h"
#include "calque/files.h"
#include "calque/ir/errors.h"

#include "transform/simplify/passes.h"

namespace calque::cli {
namespace {

/// A pass, or a transformation with what stands after its `=`.
struct Step {
  std::string name, value;
  bool is_pass = false;
};

struct Options {
  std::string file, output;
  /// As the command line has them, by the option's name.
  std::map<std::string, std::vector<std::string>> values;
  bool table = false;
};

/// Kind, what stands for it when it is given without `=` (empty: it takes nothing), and what it does.
struct Transformation {
  const char *kind, *value, *doc;
};
constexpr Transformation kTransformations[] = {
    {"grad", "0", "Gradient of the one scalar output by the first input; --grad=0,2 by those"},
    {"value-and-grad", "0", "The same after the output itself"},
    {"vjp", "", "Outputs and, for a cotangent of each, cotangents of the inputs"},
    {"jvp", "", "Outputs and, for a tangent of each input, tangents of the outputs"},
    {"linearize", "", "The same in two parts, the second of which depends on the tangents alone"},
    {"jacfwd", "0", "Jacobians of the outputs by the first input, in forward mode; --jacfwd=0,2 by those"},
    {"jacrev", "0", "The same in reverse mode"},
    {"hessian", "0", "Second derivatives of the outputs by the first input"},
    {"vmap", "8", "Batches of 8 examples along axis 0; --vmap=4:1,none for 4 along axis 1 of the first input alone"},
    {"checkpoint", "", "Derivatives will compute everything again"},
};

std::string list_of_passes() {
  std::ostringstream out;
  for (const transform::Pass& pass : transform::passes()) {
    out << "\n  " << pass.name << std::string(pass.name.size() < 14 ? 14 - pass.name.size() : 1, ' ') << pass.doc;
  }
  return out.str();
}

transform::Pass pass_named(const std::string& name) {
  std::string names;
  for (const transform::Pass& pass : transform::passes()) {
    if (pass.name == name) return pass;
    names += (names.empty() ? "" : ", ") + std::string(pass.name);
  }
  throw Error("opt: there is no pass " + name + ", expected one of " + names);
}

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

int64_t number(const std::string& text, const std::string& option) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw Error("opt: --" + option + " expects numbers, got '" + text + "'");
}

// ---- transformations, as the conformance cases spell them

struct Application {
  Json json;
  std::vector<Type> types;  ///< of the transformed graph's inputs
};

Application batching(const Step& step, std::vector<Type> types) {
  const std::vector<std::string> parts = split_at(step.value, ':');
  const int64_t size = number(parts.empty() ? "" : parts[0], step.name);
  if (size < 0 || parts.size() > 2) throw Error("opt: --vmap expects SIZE or SIZE:AXIS,..., got " + step.value);
  const std::vector<std::string> axes =
      parts.size() == 2 ? split_at(parts[1], ',') : std::vector<std::string>(types.size(), "0");
  if (axes.size() != types.size()) {
    throw Error("opt: --vmap has " + std::to_string(axes.size()) + " axes for " + std::to_string(types.size()) +
                " inputs");
  }
  Json in_axes = Json::array();
  for (size_t i = 0; i < types.size(); ++i) {
    if (axes[i] == "none") {
      in_axes.push_back(nullptr);
      continue;
    }
    int64_t axis = number(axes[i], step.name);
    const int64_t rank = types[i].shape.rank() + 1;
    if (axis < -rank || axis >= rank) {
      throw ShapeError("opt: --vmap: axis " + axes[i] + " is out of range for " + to_string(types[i]) +
                       " and one more dimension");
    }
    if (axis < 0) axis += rank;
    in_axes.push_back(axis);
    types[i].shape = types[i].shape.with_inserted(static_cast<size_t>(axis), size);
  }
  return {{{"kind", "vmap"}, {"in_axes", in_axes}}, types};
}

Application application(const Step& step, const Graph& graph) {
  std::vector<Type> types = graph.input_types();
  if (step.name == "vmap") return batching(step, types);
  std::string kind = step.name;
  std::replace(kind.begin(), kind.end(), '-', '_');
  Json json{{"kind", kind}};
  const std::vector<Type> more = kind == "vjp" ? graph.output_types() : types;
  if (kind == "vjp") json["inputs"] = types.size();
  if (kind == "vjp" || kind == "jvp" || kind == "linearize") types.insert(types.end(), more.begin(), more.end());
  for (const std::string& n : split_at(step.value, ',')) {
    const int64_t position = number(n, step.name);
    if (position < 0) throw Error("opt: --" + step.name + " expects positions of inputs, got " + n);
    json["argnums"].push_back(position);
  }
  return {json, types};
}

Graph applied(const Step& step, const Graph& graph) {
  if (step.is_pass) return transform::run_pass(pass_named(step.name), graph);
  const Application a = application(step, graph);
  const Json holder{{"transform", Json::array({a.json})}};
  Graph result = CaseTransforms(holder, a.types, {}).apply({graph, 0}).graph;
  result.set_name(graph.name());
  return result;
}

// ---- the command

/// A flag that takes nothing comes as "true".
std::string value_of(const std::string& kind, const std::string& value) {
  for (const Transformation& t : kTransformations) {
    if (t.kind != kind || *t.value != '\0') continue;
    if (value != "true") throw Error("opt: --" + kind + " takes no value, got " + value);
    return {};
  }
  return value;
}

/// In the order of the command line.
std::vector<Step> steps_of(const CLI::App& command, const Options& options) {
  std::vector<Step> steps;
  std::map<std::string, size_t> seen;
  for (const CLI::Option* option : command.parse_order()) {
    const std::string name = option->get_name().substr(2);
    const auto values = options.values.find(name);
    if (values == options.values.end()) continue;
    const std::string& value = values->second.at(seen[name]++);
    if (name != "pass") {
      steps.push_back({name, value_of(name, value), false});
      continue;
    }
    for (const std::string& pass : split_at(value, ','))
      steps.push_back({std::string(pass_named(pass).name), {}, true});
  }
  return steps;
}

int opt(const CLI::App& command, const Options& options) {
  const std::vector<Step> steps = steps_of(command, options);
  Graph graph = read_graph(options.file);
  for (const Step& step : steps) {
    graph = applied(step, graph);
    graph.verify(step.name);
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
  CLI::App* command =
      app.add_subcommand("opt", "Runs passes and transformations over a text graph and prints the result");
  command->add_option("file", options->file, "The graph (.jaxpr); - is standard input")->required();
  command
      ->add_option("--pass", options->values["pass"],
                   "Passes, separated by commas. They and the transformations run in the order in which they are given")
      ->allow_extra_args(false);
  for (const Transformation& t : kTransformations) {
    const std::string name = std::string("--") + t.kind;
    const std::string alone = *t.value == '\0' ? "" : "{" + std::string(t.value) + "}";
    command->add_flag(name + alone, options->values[t.kind], t.doc)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  command->add_flag("--table", options->table, "Print a table in place of the text form");
  command->add_option("-o,--output", options->output, "Where the result is written; standard output when absent");
  command->footer("Passes:" + list_of_passes());
  command->callback([command, options, &status] { status = opt(*command, *options); });
}

}  // namespace calque::cli
