#pragma once
// Recorded paths merged to one program: steps that are common before a question become steps before a branch, and where
// the paths continue alike after it, their tails are one. Merging may guess: an unexplored side of a question in a
// joined tail is that of the other path. Whether the lambda would record what the program computes is told by comparing
// `line(history)` with a run of the lambda along the same answers.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/branches/path.h"

namespace calque::detail::merged {

/// Whether running an equation on values of a path that is not taken could have an effect, or not end.
bool is_unsafe(const Equation& equation);

/// A value of a merged trace: an index into its table of values.
using V = uint32_t;

struct ValueInfo {
  Type type;
  /// Of a literal or constant; null for inputs, which are the first values, and for results.
  const Graph* graph = nullptr;
  Value leaf;
};

struct Step;
struct Side;
struct Block {
  std::vector<Step> steps;
  std::vector<V> yields;
};

struct Step {
  enum class Kind : uint8_t {
    equation,
    guard,  ///< a question of which one answer is known: any other one leaves the program
    fork,   ///< a question of which several are known
  };
  Kind kind = Kind::equation;
  /// Effects, and loops that might not end with the values of a path that is not taken.
  bool needs_protection = false;
  const Graph* graph = nullptr;  ///< of the equation
  const Equation* equation = nullptr;
  std::vector<V> operands, results;  ///< of an equation; the results of a fork are what its sides yield

  // ---- questions
  QuestionKind question = QuestionKind::truth;
  V asked = 0;
  Location location;
  const void* site = nullptr;
  int64_t answer = 0;                    ///< of a guard
  std::vector<Side> sides;               ///< of a fork, by answer in ascending order
  uint32_t exit = 0;                     ///< the number of the exit; 0: it has none
  unsigned first_bit = 0, num_bits = 0;  ///< of a fork: its side in the history

  /// Whether answers are possible that the step does not know.
  bool is_open() const { return kind == Kind::guard || (kind == Kind::fork && question == QuestionKind::number); }
};

/// What a fork does after one answer.
struct Side {
  int64_t answer = 0;
  Block block;
};

/// What the program does along one history: equations and answers, with the operands that they have there.
struct LineStep {
  const Step* step = nullptr;
  std::vector<V> operands;  ///< of a question: what is asked
  int64_t answer = 0;
};
struct Line {
  std::vector<LineStep> steps;
  std::vector<V> outputs;
  bool ends_at_exit = false;  ///< its question is the last step, without an answer
  std::vector<int64_t> answers() const;
};

/// How the program that `record` makes reports how a call ended, behind its outputs: the number of the exit (i32, 0:
/// none), the history (i64), and the value that was asked for at the exit (i64).
struct StatusLayout {
  bool exit = false, history = false, value = false;
  size_t count() const { return size_t{exit} + size_t{history} + size_t{value}; }
};

class MergedTrace {
 public:
  MergedTrace(MergedTrace&&) = default;
  MergedTrace& operator=(MergedTrace&&) = default;

  /// Merges paths with equal inputs and output types, in ascending order of answers. None when their histories do not
  /// fit into a word, or questions are nested too deeply.
  static std::optional<MergedTrace> merge(std::vector<std::shared_ptr<const RecordedPath>> paths, bool joins);

  /// The program as a closed graph, with the results that report how a call ended: without a history if all are proven.
  TraceResult record(std::string_view name, bool all_proven, StatusLayout& layout) const;

  /// What the program does along a history, up to an exit or (0) to its end.
  Line line(uint64_t history, uint32_t exit = 0) const;
  /// The history of a path that was merged, or of any other answers; none if the program leaves them.
  std::optional<uint64_t> history_of(std::span<const int64_t> answers) const;
  /// Answers that lead to an exit.
  Line line_to(uint32_t exit) const;
  /// The number of different histories, at most 2^63.
  uint64_t num_histories() const { return num_histories_; }
  uint32_t num_exits() const { return num_exits_; }
  /// The question of an exit.
  const Step& exit(uint32_t number) const { return *exits_[number - 1]; }
  const ValueInfo& value(V v) const { return values_[v]; }
  bool is_leaf(V v) const { return v < num_inputs_ || values_[v].graph != nullptr; }
  size_t num_inputs() const { return num_inputs_; }
  size_t num_values() const { return values_.size(); }
  const Block& root() const { return root_; }
  const std::vector<std::shared_ptr<const RecordedPath>>& paths() const { return paths_; }
  size_t num_equations() const;

  /// While it is merged: a new value.
  V add(Type type) {
    values_.push_back({std::move(type), nullptr, {}});
    return static_cast<V>(values_.size() - 1);
  }

 private:
  friend class Merger;
  MergedTrace() = default;

  std::vector<std::shared_ptr<const RecordedPath>> paths_;
  std::vector<ValueInfo> values_;
  size_t num_inputs_ = 0;
  Block root_;
  std::vector<const Step*> exits_;  ///< of root_, which does not change any more
  uint32_t num_exits_ = 0;
  uint64_t num_histories_ = 1;
  unsigned num_bits_ = 0;
};

/// Compares a run of the lambda with a line, while it is recorded.
class LineChecker {
 public:
  LineChecker(const MergedTrace& program, const Line& line) : program_(program), line_(line) {
    values_.resize(program.num_values());
  }
  /// Whether the graph has recorded, up to this question, what the line does. Questions come in order.
  bool agrees(const Graph& graph, const Question& question);
  /// Whether it has to its end.
  bool agrees_to_the_end(const Graph& graph, const Path& path);
  /// Where it did not.
  const Location& difference() const { return difference_; }

 private:
  bool same(const Graph& graph, V v, Value w) const;
  bool advance(const Graph& graph, size_t num_equations);

  const MergedTrace& program_;
  const Line& line_;
  std::vector<Value> values_;
  size_t next_ = 0;                                  ///< step
  size_t equations_ = 0;                             ///< compared
  std::optional<Graph::EquationIterator<true>> at_;  ///< the equation compared last
  Location difference_;
};

}  // namespace calque::detail::merged
