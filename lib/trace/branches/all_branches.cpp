// Ordinary branches of C++ on tracers, of both sides: the body runs once for each path through it, and the recorded
// paths, which are equal up to the question where they part, become conds.
#include <algorithm>

#include "calque/detail/control/control.h"

#include "primitives/list.h"
#include "trace/branches/path.h"
#include "trace/builder.h"

namespace calque::detail {
namespace {

constexpr size_t kMaxPaths = 4096;
/// Questions of one path, each of which nests a cond in that of the one before.
constexpr size_t kMaxQuestions = 128;
static_assert(kMaxQuestions < kMaxDepth);

/// Advances to the next path, in the order of counting; false after the last.
bool next_path(std::vector<int64_t>& answers) {
  while (!answers.empty() && answers.back() != 0) answers.pop_back();
  if (answers.empty()) return false;
  answers.back() = 1;
  return true;
}

/// Records the paths again, in a trace that runs, as one function.
class Joined {
 public:
  Joined(std::string_view name, const std::vector<RecordedPath>& paths, std::span<const Handle> inputs)
      : name_(name), paths_(paths), inputs_(inputs) {}

  using Values = std::vector<Handle>;

  /// The outputs of the paths [first, last), which agree in their first `depth` answers and in the equations before
  /// `recorded`, whose values are in `values`.
  std::vector<Handle> outputs(size_t first, size_t last, size_t depth, size_t recorded, Values values) const {
    const RecordedPath& p = paths_[first];
    values.resize(p.graph.num_values());
    if (last - first == 1 && p.path.asked.size() == depth) {
      record(p, recorded, p.graph.equations().size(), values);
      std::vector<Handle> out;
      for (Value v : p.graph.outputs()) out.push_back(value(p, v, values));
      return out;
    }
    const Question& question = p.path.asked[depth];
    require_equal(first, last, depth, recorded);
    record(p, recorded, question.num_equations, values);
    const Handle predicate = value(p, question.value, values);
    size_t middle = first;
    while (middle < last && paths_[middle].path.answers[depth] == 0) ++middle;
    TraceResult if_true = side(middle, last, depth, question.num_equations, values);
    TraceResult if_false = side(first, middle, depth, question.num_equations, values);
    require_types(if_true.graph, if_false.graph, question.location);
    TraceResult* both[] = {&if_true, &if_false};
    std::vector<Handle> operands{predicate};
    const std::vector<Handle> captures = unify_captures(both);
    operands.insert(operands.end(), captures.begin(), captures.end());
    std::vector<Graph> subgraphs;
    subgraphs.push_back(std::move(if_true.graph));
    subgraphs.push_back(std::move(if_false.graph));
    std::vector<Handle> results;
    emit(primitives::get<primitives::Cond>(), operands, {}, std::move(subgraphs), question.location, results);
    return results;
  }

 private:
  TraceResult side(size_t first, size_t last, size_t depth, size_t recorded, const Values& values) const {
    return trace_once("branch", {},
                      [&](std::span<const Handle>, std::vector<Handle>& out) {
                        out = outputs(first, last, depth + 1, recorded, values);
                      },
                      {});
  }

  Handle value(const RecordedPath& p, Value v, Values& values) const {
    Handle& h = values[v.id()];
    if (h.trace != 0) return h;
    const Graph& g = p.graph;
    if (g.is_literal(v)) return literal(g.literal(v), g.type(v), {});  // not kept: it is of the innermost trace
    if (g.kind(v) == ValueKind::constant) return constant(g.constant(v), {});
    const size_t i = g.input_index(v);
    return h = i < inputs_.size() ? inputs_[i] : p.captures[i - inputs_.size()];
  }

  void record(const RecordedPath& p, size_t from, size_t to, Values& values) const {
    std::vector<Handle> operands, results;
    for (size_t i = from; i < to; ++i) {
      const Equation& e = p.graph.equations()[i];
      operands.clear();
      results.clear();
      for (Value v : e.operands()) operands.push_back(value(p, v, values));
      emit(e.definition(), operands, e.attributes(), e.subgraphs(), e.location(), results);
      for (size_t k = 0; k < results.size(); ++k) values[e.result(k).id()] = results[k];
    }
  }

  /// Throws when the function did not record the same up to the question that all of these paths ask.
  void require_equal(size_t first, size_t last, size_t depth, size_t from) const {
    const RecordedPath& p = paths_[first];
    const Question& expected = p.path.asked[depth];
    for (size_t i = first + 1; i < last; ++i) {
      const RecordedPath& other = paths_[i];
      const bool asks = other.path.asked.size() > depth && other.path.asked[depth].value == expected.value &&
                        other.path.asked[depth].num_equations == expected.num_equations;
      bool equal = asks;
      for (size_t k = from; equal && k < expected.num_equations; ++k) {
        const Equation &a = p.graph.equations()[k], &b = other.graph.equations()[k];
        equal = same_operation(a, b) && std::ranges::equal(a.operands(), b.operands(), [&](Value v, Value w) {
                  return v == w && same_leaf(p.graph, v, other.graph, w);
                });
      }
      if (equal) continue;
      throw Error(title() +
                  ": the lambda records something else before a question than when it ran before; captured "
                  "values must not change" +
                  where_text(expected.location));
    }
  }

  void require_types(const Graph& a, const Graph& b, Location at) const {
    const std::vector<Type> on_true = a.output_types(), on_false = b.output_types();
    const std::string start = title() + ": where a tracer is true and where it is false ";
    if (on_true.size() != on_false.size()) {
      throw ShapeError(start + std::to_string(on_true.size()) + " and " + std::to_string(on_false.size()) +
                       " arrays are returned" + where_text(at));
    }
    for (size_t i = 0; i < on_true.size(); ++i) {
      if (on_true[i] == on_false[i]) continue;
      const std::string text = start + to_string(on_true[i]) + made_at(a, i) + " and " + to_string(on_false[i]) +
                               made_at(b, i) + " are returned" + where_text(at);
      if (on_true[i].dtype != on_false[i].dtype) throw DTypeError(text);
      throw ShapeError(text);
    }
  }
  std::string title() const { return std::string(name_.empty() ? "jit" : name_); }
  static std::string made_at(const Graph& g, size_t output) {
    const Equation* e = g.definition(g.outputs()[output]);
    return e != nullptr && e->location().known() ? " (made at " + to_string(e->location()) + ")" : std::string();
  }

  std::string_view name_;
  const std::vector<RecordedPath>& paths_;
  std::span<const Handle> inputs_;
};

}  // namespace

TraceResult trace_all_branches(std::string_view name, std::span<const Type> inputs, BodyRef body,
                               const TraceOptions& options) {
  std::vector<RecordedPath> paths;
  std::vector<int64_t> answers;
  do {
    Builder builder(name, inputs, options, innermost());
    Path path{answers, {}, kMaxQuestions};
    builder.follow(&path, nullptr);
    TraceResult result;
    run_trace(builder, body, result);
    if (paths.empty() && path.asked.empty()) {
      finish_trace(builder, result);
      return result;
    }
    path.answers.resize(path.asked.size());
    answers = path.answers;
    paths.push_back({std::move(builder.graph()), builder.captures(), std::move(path)});
    if (paths.size() > kMaxPaths) {
      throw CompileError(std::string(name.empty() ? "jit" : name) + ": more than " + std::to_string(kMaxPaths) +
                         " paths lead through the function; they fork at " + lines_of(paths.back().path) +
                         "; use where or cond, or while_loop for a loop that data ends");
    }
  } while (next_path(answers));
  return trace_once(
      name, inputs,
      [&](std::span<const Handle> in, std::vector<Handle>& out) {
        out = Joined(name, paths, in).outputs(0, paths.size(), 0, 0, {});
      },
      options);
}

}  // namespace calque::detail
