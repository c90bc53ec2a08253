#pragma once
// Pieces of the text form that messages, tables and drawings use too.
#include <string>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::text {

/// The numbers under which a graph's text shows its values: inputs, then results, in order. Works on broken graphs too.
class ValueNumbers {
 public:
  explicit ValueNumbers(const Graph& graph);
  /// `%3`, a literal `2.5:f32[3]`, `@c0` for a constant (numbered within this graph).
  void append(std::string& out, Value v) const;
  std::string text(Value v) const;

 private:
  const Graph& graph_;
  std::vector<uint32_t> numbers_;
};

/// `[axis=0, mode="clip"]`, or nothing when there are none.
void append_attributes(std::string& out, const Attributes& attributes);

/// One equation as the text form has it, its sub-graphs as `{...}`, without location: for messages.
std::string equation_text(const Graph& graph, const Equation& equation);
/// The same with numbers at hand, which cost a walk over the graph.
std::string equation_text(const Graph& graph, const ValueNumbers& numbers, const Equation& equation);

/// Constants up to this size are written out; of larger ones only the hash.
inline constexpr size_t kMaxWrittenBytes = 4096;

}  // namespace calque::text
