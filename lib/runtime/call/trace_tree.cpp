#include "runtime/call/trace_tree.h"

#include <algorithm>
#include <new>

#include <xxhash.h>

#include "calque/ir/errors.h"

#include "runtime/process/flight_cache.h"

namespace calque::runtime {
namespace {

using detail::Question;
using detail::RecordedPath;

/// New paths that are compiled the first time they are taken.
constexpr size_t kCompiledAtOnce = 4;

bool begins_with(const std::vector<int64_t>& answers, std::span<const int64_t> first) {
  return answers.size() >= first.size() && std::equal(first.begin(), first.end(), answers.begin());
}

uint64_t hash_of_answers(std::span<const int64_t> answers) { return XXH3_64bits(answers.data(), answers.size_bytes()); }

/// Whether two equations of two graphs, of the same position, are the same.
bool same(const Graph& a, const Equation& x, const Graph& b, const Equation& y) {
  return detail::same_operation(x, y) && std::ranges::equal(x.operands(), y.operands(), [&](Value v, Value w) {
           return a.kind(v) == ValueKind::result ? v == w && b.kind(w) == ValueKind::result
                                                 : detail::same_leaf(a, v, b, w);
         });
}

}  // namespace

bool BranchProgram::is_proven(uint64_t history) const {
  if (!status.history) return true;
  if (last_proven_.load(std::memory_order_relaxed) == history) return true;
  const std::lock_guard lock(mutex_);
  if (!proven_.contains(history)) return false;
  last_proven_.store(history, std::memory_order_relaxed);
  return true;
}

void BranchProgram::prove(uint64_t history) const {
  constexpr size_t kMost = size_t{1} << 16;
  const std::lock_guard lock(mutex_);
  if (proven_.size() < kMost) proven_.insert(history);
}

bool BranchProgram::all_proven() const {
  const std::lock_guard lock(mutex_);
  return proven_.size() == merged.num_histories();
}

TraceTree::Turn::Turn(TraceTree& tree) : tree_(tree) {
  std::unique_lock lock(tree.turn_);
  const std::thread::id self = std::this_thread::get_id();
  while (tree.taken_turn_) {
    if (tree.owner_ == self) throw RecursiveFlight{};
    Waits::enter(&tree, tree.owner_);
    tree.turn_ends_.wait(lock);
    Waits::leave();
  }
  tree.taken_turn_ = true;
  tree.owner_ = self;
}

TraceTree::Turn::~Turn() {
  const std::lock_guard lock(tree_.turn_);
  tree_.taken_turn_ = false;
  Waits::landed(&tree_);
  tree_.turn_ends_.notify_all();
}

const BranchProgram* TraceTree::newest(size_t region) const {
  for (size_t i = programs_.size(); i-- > 0;) {
    if (programs_[i]->region == region) return programs_[i].get();
  }
  return nullptr;
}

const BranchProgram* TraceTree::program_along(std::span<const int64_t> answers) const {
  const std::lock_guard lock(mutex_);
  for (const Path& p : paths_) {
    if (begins_with(p.recorded->path.answers, answers)) return newest(p.region);
  }
  return nullptr;
}

bool TraceTree::has_path(std::span<const int64_t> answers) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(paths_,
                             [&](const Path& p) { return std::ranges::equal(p.recorded->path.answers, answers); });
}

void TraceTree::require_deterministic(const RecordedPath& path, const std::string& title) const {
  const std::lock_guard lock(mutex_);
  for (const Path& known : paths_) {
    const RecordedPath& other = *known.recorded;
    size_t common = 0;
    while (common < path.path.answers.size() && common < other.path.answers.size() &&
           path.path.answers[common] == other.path.answers[common]) {
      ++common;
    }
    // Both record the same up to the question where they part, or to the end.
    const bool both_end = common == path.path.asked.size() && common == other.path.asked.size();
    const bool parts = common < path.path.asked.size() && common < other.path.asked.size();
    std::optional<Location> at;
    if (!both_end && !parts) {
      const detail::Path& longer = path.path.asked.size() > common ? path.path : other.path;
      at = longer.asked[common].location;
    }
    size_t compared = 0;
    auto x = other.graph.equations().begin(), y = path.graph.equations().begin();
    for (size_t i = 0; !at && i < std::min({common + 1, path.path.asked.size(), other.path.asked.size()}); ++i) {
      const Question &a = other.path.asked[i], &b = path.path.asked[i];
      if (a.num_equations != b.num_equations || a.kind != b.kind || a.value != b.value) at = b.location;
      for (; compared < std::min(a.num_equations, b.num_equations); ++compared, ++x, ++y) {
        if (same(other.graph, *x, path.graph, *y)) continue;
        at = y->location().known() ? y->location() : b.location;
        break;
      }
    }
    if (!at) continue;
    throw Error(title +
                ": the lambda records something else than when it ran before under the same answers; captured " +
                "values must not change" + where_text(*at));
  }
}

std::string TraceTree::exceeded(const RecordedPath& path) const {
  const std::lock_guard lock(mutex_);
  const auto text = [](int limit, std::string_view what, const std::string& where) {
    return "more than " + std::to_string(limit) + " " + std::string(what) + where;
  };
  const std::string lines = " (" + detail::lines_of(path.path) + ")";
  if (paths_.size() >= static_cast<size_t>(std::max(1, limits_.traces))) return text(limits_.traces, "paths", lines);
  if (path.path.asked.size() > static_cast<size_t>(limits_.questions)) {
    return text(limits_.questions, "questions on a path", lines);
  }
  if (num_equations_ + path.graph.num_equations() > static_cast<size_t>(limits_.equations)) {
    return text(limits_.equations, "equations", lines);
  }
  for (size_t i = 0; i < path.path.asked.size(); ++i) {
    if (path.path.asked[i].kind != detail::QuestionKind::number) continue;
    const std::span<const int64_t> before(path.path.answers.data(), i);
    std::vector<int64_t> values{path.path.answers[i]};
    for (const Path& p : paths_) {
      const std::vector<int64_t>& answers = p.recorded->path.answers;
      if (answers.size() <= i || !begins_with(answers, before)) continue;
      if (std::ranges::find(values, answers[i]) == values.end()) values.push_back(answers[i]);
    }
    if (values.size() > static_cast<size_t>(std::max(1, limits_.values))) {
      return text(limits_.values, "values of one integer", where_text(path.path.asked[i].location));
    }
  }
  return {};
}

bool TraceTree::is_hot(std::span<const int64_t> answers) {
  constexpr size_t kMost = 1024;
  const std::lock_guard lock(mutex_);
  if (paths_.size() < kCompiledAtOnce) return true;
  if (taken_.size() > kMost) taken_.clear();
  return ++taken_[hash_of_answers(answers)] > 1;
}

size_t TraceTree::add(RecordedPath path, Traced& traced) {
  const std::lock_guard lock(mutex_);
  Path added;
  num_equations_ += path.graph.num_equations();
  const std::vector<Type> types = path.graph.output_types();
  added.region = num_regions_;
  for (const Path& p : paths_) {
    if (p.recorded->graph.output_types() == types && p.parts == traced.static_parts) added.region = p.region;
  }
  if (added.region == num_regions_) ++num_regions_;
  added.structure = traced.structure;
  added.parts = traced.static_parts;
  added.recorded = std::make_shared<const RecordedPath>(std::move(path));
  paths_.push_back(std::move(added));
  return paths_.back().region;
}

std::optional<detail::merged::MergedTrace> TraceTree::merge(size_t region) const {
  std::vector<std::shared_ptr<const RecordedPath>> paths;
  {
    const std::lock_guard lock(mutex_);
    for (const Path& p : paths_) {
      if (p.region == region) paths.push_back(p.recorded);
    }
  }
  std::ranges::sort(paths, {}, [](const auto& p) -> const std::vector<int64_t>& { return p->path.answers; });
  // A guess must have no effect, and must end.
  const bool joins = std::ranges::none_of(paths, [](const auto& p) {
    return std::ranges::any_of(p->graph.equations(), [](const Equation& e) { return detail::merged::is_unsafe(e); });
  });
  return detail::merged::MergedTrace::merge(std::move(paths), joins);
}

const BranchProgram& TraceTree::add_program(std::unique_ptr<BranchProgram> program) {
  const std::lock_guard lock(mutex_);
  programs_.push_back(std::move(program));
  latest_.store(programs_.back().get(), std::memory_order_release);
  return *programs_.back();
}

const TraceTree::Path& TraceTree::first_of(size_t region) const {
  const std::lock_guard lock(mutex_);
  return *std::ranges::find(paths_, region, &Path::region);
}

BranchInfo TraceTree::info() const {
  const std::lock_guard lock(mutex_);
  BranchInfo info;
  info.traces = paths_.size();
  info.compilations = programs_.size();
  info.replays = replays_.load(std::memory_order_relaxed);
  // An exit of one region may be known in another one.
  for (size_t region = 0; region < num_regions_; ++region) {
    const BranchProgram* const program = newest(region);
    if (program == nullptr) continue;
    for (uint32_t k = 1; k <= program->merged.num_exits(); ++k) {
      const detail::merged::Step& exit = program->merged.exit(k);
      if (exit.question == detail::QuestionKind::truth) {
        std::vector<int64_t> answers = program->merged.line_to(k).answers();
        answers.push_back(exit.answer == 0);
        if (std::ranges::any_of(paths_,
                                [&](const Path& p) { return begins_with(p.recorded->path.answers, answers); })) {
          continue;
        }
      }
      ++info.open_exits;
    }
  }
  return info;
}

size_t TraceTree::num_regions() const {
  const std::lock_guard lock(mutex_);
  return num_regions_;
}

std::vector<const BranchProgram*> TraceTree::programs() const {
  const std::lock_guard lock(mutex_);
  std::vector<const BranchProgram*> out;
  for (size_t region = 0; region < num_regions_; ++region) {
    if (const BranchProgram* const program = newest(region)) out.push_back(program);
  }
  return out;
}

std::vector<const Executable*> TraceTree::executables() const {
  const std::lock_guard lock(mutex_);
  std::vector<const Executable*> out;
  for (const auto& p : programs_) out.push_back(p->entry->executable.get());
  return out;
}

void TraceTree::forget_other_threads() {
  const std::lock_guard lock(turn_);
  new (&turn_ends_) std::condition_variable_any;  // a thread may have been about to wait
  if (owner_ != std::this_thread::get_id()) taken_turn_ = false;
}

size_t TraceTree::bytes() const {
  constexpr size_t kEquation = 256;
  const std::lock_guard lock(mutex_);
  size_t bytes = sizeof(TraceTree) + num_equations_ * kEquation;
  for (const auto& p : programs_) bytes += p->entry->bytes() + p->merged.num_equations() * kEquation;
  return bytes;
}

}  // namespace calque::runtime
