#pragma once
// A recursive-descent parser of the text form. parse.cpp parses graphs and equations, value_parser.cpp the rest.
#include <string>
#include <string_view>
#include <unordered_map>

#include "calque/ir/graph.h"

#include "ir/text/value_parser.h"

namespace calque::text {

class Parser : ValueParser {
 public:
  explicit Parser(std::string_view text) : ValueParser(text) {}
  Graph parse();

 private:
  /// Limit on the nesting of sub-graphs, which bounds the use of the stack.
  static constexpr int kMaxDepth = 200;

  /// The names defined so far in one graph.
  struct Scope {
    Graph graph;
    std::unordered_map<std::string_view, Value> values;     // by spelling, `%3`
    std::unordered_map<std::string_view, Value> constants;  // `@c0`
  };
  /// A result as declared in the text: its type is optional.
  struct Declared {
    Token name;
    bool typed = false;
    Type type;
    size_t type_offset = 0;
  };

  // ---- graphs and equations
  void find_constants();
  Graph graph(int depth);
  void inputs(Scope& scope);
  void define(Scope& scope, const Token& name, Value v) const;
  void equation(Scope& scope, int depth);
  std::vector<Declared> declarations();
  void append(Scope& scope, const Token& at, const Primitive& primitive, ValueList operands, Attributes attributes,
              std::vector<Graph> subgraphs, Location location, const std::vector<Declared>& declared);
  bool at_operand() const;
  bool at_result() const;
  Value operand(Scope& scope);
  Value constant_operand(Scope& scope);
  AnyArray constant_section();

  std::unordered_map<std::string_view, AnyArray> constants_;
};

}  // namespace calque::text
