#pragma once
// Recursive descent over the tokens of a graph's text. parse.cpp has graphs and equations, parse_parts.cpp the rest.
#include <string>
#include <string_view>
#include <unordered_map>

#include "calque/ir/graph.h"

#include "ir/text/lexer.h"

namespace calque::text {

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}
  Graph parse();

 private:
  /// Deeper nesting of sub-graphs is refused: it would only serve to exhaust the stack.
  static constexpr int kMaxDepth = 200;
  static constexpr size_t kMaxRank = 64;

  /// The names that one graph has defined so far.
  struct Scope {
    Graph graph;
    std::unordered_map<std::string_view, Value> values;     // by spelling, `%3`
    std::unordered_map<std::string_view, Value> constants;  // `@c0`
  };
  /// A result as the text declares it: its type may be left out.
  struct Declared {
    Token name;
    bool typed = false;
    Type type;
    size_t type_offset = 0;
  };

  // ---- tokens
  const Token& peek(size_t ahead = 0) const;
  Token next();
  bool at(std::string_view spelling) const;
  bool accept(std::string_view spelling);
  void expect(std::string_view spelling, const char* where);
  Token expect_kind(TokenKind kind, const char* what);
  std::string describe(const Token& token) const;
  [[noreturn]] void expected(const std::string& what) const;
  std::string_view spelling(const Token& token) const { return lexer_.spelling(token); }

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
  Location location();

  // ---- parts
  std::string name(const char* what);
  int64_t integer(const char* what);
  DType dtype();
  Type type();
  Literal element(DType dtype);
  Attributes attributes();
  AttributeValue attribute();
  AnyArray constant_section();
  AnyArray constant_elements(const Type& type);

  Lexer lexer_;
  size_t at_ = 0;
  std::unordered_map<std::string_view, AnyArray> constants_;
};

}  // namespace calque::text
