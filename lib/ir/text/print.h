#pragma once
// Fragments of the text form that messages, tables and drawings also use.
#include <functional>
#include <string>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::text {

/// The numbers of a graph's values in the text form: inputs, then results, in order. Works on malformed graphs as well.
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

/// `[axis=0, mode="clip"]`; empty when there are no attributes.
void append_attributes(std::string& out, const Attributes& attributes);

/// One equation as in the text form, its sub-graphs as `{...}`, without location: for messages.
std::string equation_text(const Graph& graph, const Equation& equation);
/// As above with existing numbers, whose computation is a walk over the graph.
std::string equation_text(const Graph& graph, const ValueNumbers& numbers, const Equation& equation);

/// The text of a graph with a comment behind each of its equations, where `comment` is not empty; not of sub-graphs.
using Comment = std::function<std::string(const Equation&)>;
std::string print_with_comments(const Graph& graph, const Comment& comment);

/// The contents of an array: a list of a few elements, else base64, or only the hash where the array has no data or
/// more bytes than `most_bytes`.
void append_contents(std::string& out, const AnyArray& array, size_t most_bytes);

/// Constants up to this size (in bytes) are printed; of larger ones only the hash.
inline constexpr size_t kMaxWrittenBytes = 4096;

}  // namespace calque::text
