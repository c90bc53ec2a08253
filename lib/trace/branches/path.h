#pragma once
// One path through a traced function: what C++ code asked about tracers, and the answers.
#include <cstdint>
#include <string>
#include <vector>

#include "calque/detail/trace.h"

namespace calque::detail {

enum class QuestionKind : uint8_t {
  truth,   ///< `if (x > 0)`, of a bool scalar
  number,  ///< `int(k)`, of an i64 scalar
};

struct Question {
  Value value;
  QuestionKind kind = QuestionKind::truth;
  size_t num_equations = 0;  ///< recorded before the question
  Location location;
  const void* site = nullptr;  ///< the address in the user's code that the question returns to
};

struct Path {
  std::vector<int64_t> answers;  ///< the first ones may be given before the function runs
  std::vector<Question> asked;   ///< without those that are settled by earlier ones
  size_t most_questions = SIZE_MAX;
};

/// A path and what was recorded along it: the graph as recorded, neither pruned nor in canonical order, so that values
/// of two paths have the same ids up to the question where the paths part.
struct RecordedPath {
  Graph graph;
  std::vector<Handle> captures;
  Path path;
};

/// Whether a value that is no result of an equation is the same in two graphs.
bool same_leaf(const Graph& a, Value v, const Graph& b, Value w);
/// Whether two equations are the same but for their operands and results: primitive, attributes and sub-graphs. C++
/// functions are the same if they are of one type.
bool same_operation(const Equation& a, const Equation& b);
/// The lines that ask, with their numbers of questions.
std::string lines_of(const Path& path);

}  // namespace calque::detail
