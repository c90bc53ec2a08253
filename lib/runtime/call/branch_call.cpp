#include "runtime/call/branch_call.h"

#include <algorithm>

#include "calque/device.h"

#include "ir/log.h"
#include "runtime/call/donation.h"
#include "runtime/call/explorer.h"
#include "runtime/call/trace_tree.h"
#include "runtime/device/device_api.h"
#include "runtime/process/flight_cache.h"

namespace calque::runtime {
namespace {

using detail::merged::Line;
using detail::merged::Step;

/// Programs that one call runs before it gives up on compiled code: rounding may take it from one to another.
constexpr int kMaxRuns = 16;

/// The options of the explorer's own programs, and of those of the tree.
CompileOptions options_of(const detail::FunctionState& function, const detail::Arguments& arguments,
                          const CallEntry& entry, bool may_donate) {
  CompileOptions options = compile_options(function, arguments, entry);
  if (!may_donate) options.donated.clear();
  return options;
}

detail::RecordedPath recorded(Traced& traced, const Explorer& explorer) {
  return {std::move(traced.graph), {}, explorer.path};
}

/// A program of the region's paths, compiled.
std::unique_ptr<BranchProgram> compile_program(const detail::FunctionState& function,
                                               const detail::Arguments& arguments, Device device, const TraceTree& tree,
                                               size_t region, bool all_proven) {
  std::optional<detail::merged::MergedTrace> merged = tree.merge(region);
  if (!merged) return nullptr;
  auto program = std::make_unique<BranchProgram>(std::move(*merged), region);
  for (const auto& path : program->merged.paths()) program->prove(*program->merged.history_of(path->path.answers));
  Traced traced;
  traced.graph = program->merged.record(function.name(), all_proven || program->all_proven(), program->status).graph;
  traced.structure = tree.first_of(region).structure;
  const size_t num_equations = traced.graph.num_equations();
  auto entry = make_entry(arguments, traced, device);
  const bool closed = program->status.count() == 0;
  if (!closed) entry->sources.resize(entry->sources.size() - program->status.count());
  entry->executable = executable_of(function, arguments, traced, options_of(function, arguments, *entry, closed));
  library_log().debug("{}: {} paths, {} equations", function.title(), program->merged.paths().size(), num_equations);
  program->entry = std::move(entry);
  return program;
}

RunStatus run_program(const detail::FunctionState& function, const BranchProgram& program,
                      const detail::Arguments& arguments, primitives::EffectLog& effects, detail::CallResult& result) {
  const CallEntry& entry = *program.entry;
  const primitives::EffectLog::Run run(effects);
  RunStatus status;
  if (program.status.count() == 0) {
    // An ordinary program, which donates what the call donates.
    runtime::run(function, entry, arguments, result);
    return status;
  }
  std::vector<void*> to;
  if (program.status.exit) to.push_back(&status.exit);
  if (program.status.history) to.push_back(&status.history);
  if (program.status.value) to.push_back(&status.value);
  try {
    execute_with_status(*entry.executable, arguments.leaves(), entry.lifted, entry.constants, entry.sources,
                        entry.device, result.outputs, to);
  } catch (const CallFailure& e) {
    rethrow(function, e);
  }
  return status;
}

/// One call of a function with a tree.
class BranchCall {
 public:
  BranchCall(const detail::FunctionState& function, const CallEntry& entry, detail::Arguments& arguments,
             const detail::CallSite& site, primitives::EffectLog& effects, detail::CallResult& result)
      : function_(function),
        entry_(entry),
        tree_(*entry.tree),
        arguments_(arguments),
        site_(site),
        effects_(effects),
        result_(result) {}

  void run() {
    const BranchProgram* program = tree_.latest();
    for (int runs = 0; runs < kMaxRuns; ++runs) {
      if (program == nullptr) {
        program = explore(nullptr, {}, {}, false);
      } else {
        result_.outputs.clear();
        const RunStatus status = run_program(function_, *program, arguments_, effects_, result_);
        if (status.exit == 0 && program->is_proven(static_cast<uint64_t>(status.history))) return accept(*program);
        program = leave(*program, status);
      }
      if (program == nullptr) return;  // the call is done
    }
    may_compile_ = false;
    explore(nullptr, {}, {}, false);
  }

 private:
  void accept(const BranchProgram& program) {
    effects_.flush();
    tree_.prefer(program);
    result_.structure = program.entry->structure.get();
    if (program.status.count() != 0 && !function_.options.donate.empty()) donate(function_, arguments_);
  }

  /// The run has ended at an exit, or has taken a history that no run of the lambda has proved. Returns the program to
  /// run next; null if the call is done.
  const BranchProgram* leave(const BranchProgram& program, const RunStatus& status) {
    const Line line = program.merged.line(static_cast<uint64_t>(status.history), static_cast<uint32_t>(status.exit));
    std::vector<int64_t> answers = line.answers();
    const bool left = status.exit != 0;
    if (left) {
      const Step& exit = program.merged.exit(static_cast<uint32_t>(status.exit));
      answers.push_back(exit.question == detail::QuestionKind::truth ? int64_t{exit.answer == 0} : status.value);
      const BranchProgram* const known = tree_.program_along(answers);
      if (known != nullptr && known != &program && std::ranges::find(tried_, known) == tried_.end()) {
        tried_.push_back(known);
        return known;
      }
    }
    return explore(&program, line, std::move(answers), !left);
  }

  /// Runs the lambda along these answers, and then along the data. Returns the program to run next; null if the call is
  /// done.
  const BranchProgram* explore(const BranchProgram* program, const Line& line, std::vector<int64_t> answers,
                               bool replays) {
    const TraceTree::Turn turn(tree_);
    const BranchProgram* const newest = tree_.latest();
    if (newest != nullptr && may_compile_ && newest != program &&
        (program == nullptr || newest->region == program->region)) {
      return newest;  // another thread has extended the tree meanwhile
    }
    Explorer explorer(arguments_, compile_options(function_), entry_.device, effects_);
    if (program != nullptr) explorer.follow(program->merged, line, answers);
    Traced traced = trace_call(function_, arguments_, site_, false, &explorer);
    if (replays) {
      tree_.count_replay();
      detail::merged::LineChecker checker(program->merged, line);
      if (checker.agrees_to_the_end(traced.graph, explorer.path)) return replayed(*program, line);
    }
    detail::RecordedPath path = recorded(traced, explorer);
    tree_.require_deterministic(path, function_.title());
    const bool again = !may_compile_ || tree_.has_path(path.path.answers);
    const std::string exceeded = again ? std::string() : tree_.exceeded(path);
    if (!exceeded.empty()) warn(exceeded);
    if (!again && exceeded.empty() && tree_.is_hot(answers)) {
      const size_t region = tree_.add(path, traced);
      if (auto compiled = compile_program(function_, arguments_, entry_.device, tree_, region, false)) {
        publish_closed(*compiled);
        return &tree_.add_program(std::move(compiled));
      }
      warn("the branches of a path are more than can be compiled (" + detail::lines_of(path.path) + ")");
    }
    // The explorer has computed what the lambda records along this very run.
    effects_.flush();
    const std::vector<AnyArray> values = explorer.values(path.graph, path.graph.outputs());
    effects_.flush();
    result_.outputs.clear();
    result_.outputs.reserve(values.size());
    for (const AnyArray& value : values) {
      result_.outputs.emplace_back(detail::copy_to_device(function_.title(), value, entry_.device, function_.location));
    }
    result_.structure = traced.structure.get();
    result_.keep = std::move(traced.structure);
    if (!function_.options.donate.empty()) donate(function_, arguments_);
    return nullptr;
  }

  /// The run of the lambda has recorded what the program has computed.
  const BranchProgram* replayed(const BranchProgram& program, const Line& line) {
    program.prove(*program.merged.history_of(line.answers()));
    accept(program);
    if (program.all_proven() && program.merged.num_exits() == 0) {
      if (auto compiled = compile_program(function_, arguments_, entry_.device, tree_, program.region, true)) {
        publish_closed(*compiled);
        tree_.add_program(std::move(compiled));
      }
    }
    return nullptr;
  }

  /// A program that answers every question by itself is an ordinary entry.
  void publish_closed(const BranchProgram& program) {
    if (program.status.count() != 0 || tree_.num_regions() != 1) return;
    auto entry = std::make_shared<CallEntry>(*program.entry);
    entry->tree = entry_.tree;
    entry->runs_directly = runs_directly(function_, *entry);
    function_.table->replace(entry_, entry);
  }

  void warn(const std::string& exceeded) {
    if (!tree_.warn_once()) return;
    library_log().warn(
        "{}: {}; calls along other paths run the lambda each time: write where, cond or while_loop, or "
        "raise .limits{}",
        function_.title(), exceeded, where_text(function_.location));
  }

  const detail::FunctionState& function_;
  const CallEntry& entry_;
  TraceTree& tree_;
  detail::Arguments& arguments_;
  const detail::CallSite& site_;
  primitives::EffectLog& effects_;
  detail::CallResult& result_;
  std::vector<const BranchProgram*> tried_;
  bool may_compile_ = true;
};

}  // namespace

std::shared_ptr<CallEntry> make_branch_entry(const detail::FunctionState& function, const detail::Arguments& arguments,
                                             const detail::CallSite& site, Device device,
                                             primitives::EffectLog& effects) {
  Explorer explorer(arguments, compile_options(function), device, effects);
  Traced traced = trace_call(function, arguments, site, false, &explorer);
  if (explorer.path.asked.empty()) {
    auto entry = make_entry(arguments, traced, device);
    entry->executable = executable_of(function, arguments, traced, compile_options(function, arguments, *entry));
    entry->runs_directly = runs_directly(function, *entry);
    return entry;
  }
  auto entry = std::make_shared<CallEntry>(arguments.words());
  for (const detail::LeafRef& leaf : arguments.leaves()) entry->leaves.push_back(leaf.type());
  entry->structure = traced.structure;
  entry->device = device;
  entry->tree = std::make_shared<TraceTree>(function.options.limits);
  detail::RecordedPath path = recorded(traced, explorer);
  if (const std::string exceeded = entry->tree->exceeded(path); !exceeded.empty()) return entry;
  const size_t region = entry->tree->add(std::move(path), traced);
  if (auto program = compile_program(function, arguments, device, *entry->tree, region, false)) {
    entry->tree->add_program(std::move(program));
  }
  return entry;
}

void call_branches(const detail::FunctionState& function, const CallEntry& entry, detail::Arguments& arguments,
                   const detail::CallSite& site, primitives::EffectLog& effects, detail::CallResult& result) {
  try {
    BranchCall(function, entry, arguments, site, effects, result).run();
  } catch (const RecursiveFlight&) {
    throw CompileError(function.title() +
                       ": the function calls itself on data of the same types while it is traced, without end" +
                       where_text(function.location));
  }
}

Traced trace_closed(const detail::FunctionState& function, detail::Arguments& arguments, const detail::CallSite& site,
                    std::string_view what) {
  const auto entry = function.table->find(arguments.words());
  if (arguments.has_spec() || entry == nullptr || entry->tree == nullptr) {
    // Without questions an ordinary trace.
    if (arguments.has_spec()) return trace_call(function, arguments, site, false);
    primitives::EffectLog effects(true);
    Explorer explorer(arguments, compile_options(function), check_leaves(function, arguments, site), effects);
    Traced traced = trace_call(function, arguments, site, false, &explorer);
    if (explorer.path.asked.empty()) return traced;
    const detail::Question& q = explorer.path.asked.front();
    throw CompileError(std::string(what) + ": the function branches on data at " + to_string(q.location) +
                       (what == "compile" ? "; a function that is made of a signature has none: compile both sides, "
                                            "{.branches = cq::branches::all}"
                                          : "; call it with data for all sides first") +
                       where_text(function.location));
  }
  const std::vector<const BranchProgram*> programs = entry->tree->programs();
  if (programs.empty()) {
    throw CompileError(std::string(what) + ": no path through the function is compiled: .limits are exceeded" +
                       where_text(function.location));
  }
  if (programs.size() != 1) {
    throw CompileError(std::string(what) + ": the results of the paths through the function have different types" +
                       where_text(function.location));
  }
  for (const BranchProgram* program : programs) {
    for (uint32_t k = 1; k <= program->merged.num_exits(); ++k) {
      const Step& exit = program->merged.exit(k);
      const bool truth = exit.question == detail::QuestionKind::truth;
      throw CompileError(std::string(what) + ": the branch at " + to_string(exit.location) +
                         (truth ? std::string(" has only been ") + (exit.answer != 0 ? "true" : "false") +
                                      "; call it with data for the other side"
                                : " is on an integer, of which other values are possible; use switch_ or static_arg") +
                         where_text(function.location));
    }
  }
  Traced traced;
  detail::merged::StatusLayout status;
  traced.graph = programs.front()->merged.record(function.name(), true, status).graph;
  traced.structure = programs.front()->entry->structure;
  return traced;
}

Traced trace_for(const detail::FunctionState& function, detail::Arguments& arguments, const detail::CallSite& site,
                 std::string_view what) {
  if (function.options.branches == branches::trace) return trace_closed(function, arguments, site, what);
  return trace_call(function, arguments, site, false);
}

}  // namespace calque::runtime
