// Parses what print.cpp prints. The text is untrusted: memory and stack use are bounded by its length and kMaxDepth.
#include "ir/text/parser.h"
#include "ir/text/text.h"

namespace calque {
namespace text {

// ---- graphs

Graph Parser::parse() {
  expect("calque", "to start the text");
  const Token version = expect_kind(TokenKind::number, "the version of the text form");
  if (spelling(version) != "1") {
    lexer_.fail(version.offset, "expected version 1 of the text form, got " + std::string(spelling(version)));
  }
  find_constants();
  expect("graph", "after the version");
  Graph g = graph(0);
  while (at("constant")) constant_section();
  if (peek().kind != TokenKind::end) expected("a constant section or the end of the text");
  return g;
}

/// Reads the types of the constant sections ahead: operands refer to constants whose sections follow the graph.
void Parser::find_constants() {
  const size_t start = at_;
  size_t depth = 0;
  const std::vector<Token>& tokens = lexer_.tokens();
  for (size_t i = start; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind == TokenKind::punctuation) {
      const char c = spelling(tokens[i]).front();
      if (c == '{') ++depth;
      if (c == '}' && depth != 0) --depth;
    }
    if (depth != 0 || tokens[i].kind != TokenKind::identifier || tokens[i + 1].kind != TokenKind::constant ||
        spelling(tokens[i]) != "constant") {
      continue;
    }
    at_ = i;
    const Token& name = tokens[i + 1];
    AnyArray array = constant_section();
    if (!constants_.emplace(spelling(name), std::move(array)).second) {
      lexer_.fail(name.offset, "constant " + std::string(spelling(name)) + " has two sections");
    }
    i = at_ - 1;
  }
  at_ = start;
}

Graph Parser::graph(int depth) {
  if (depth > kMaxDepth) lexer_.fail(peek().offset, "sub-graphs are nested too deeply");
  Scope scope;
  if (!at("(")) scope.graph.set_name(name("the graph's name or '('"));
  inputs(scope);
  expect("{", "before the equations");
  while (!at("return")) {
    if (at("}") || peek().kind == TokenKind::end) expected("an equation or 'return'");
    equation(scope, depth);
  }
  next();
  std::vector<Value> outputs;
  if (!at("}")) {
    do {
      if (!at_operand()) expected("an output");
      outputs.push_back(operand(scope));
    } while (accept(","));
  }
  expect("}", "after the outputs");
  scope.graph.set_outputs(std::move(outputs));
  return std::move(scope.graph);
}

void Parser::inputs(Scope& scope) {
  expect("(", "before the inputs");
  if (accept(")")) return;
  do {
    const Token name = expect_kind(TokenKind::value, "an input like '%0: f32[3]'");
    expect(":", "after an input's name");
    define(scope, name, scope.graph.add_input(type()));
  } while (accept(","));
  expect(")", "or ',' after an input");
}

void Parser::define(Scope& scope, const Token& name, Value v) const {
  if (!scope.values.emplace(spelling(name), v).second) {
    lexer_.fail(name.offset, std::string(spelling(name)) + " is defined twice");
  }
}

// ---- equations

void Parser::equation(Scope& scope, int depth) {
  const std::vector<Declared> declared = declarations();
  const Token at_name = peek();
  const std::string primitive_name = name("a primitive");
  const Primitive* primitive = find_primitive(primitive_name);
  if (primitive == nullptr) lexer_.fail(at_name.offset, "there is no primitive '" + primitive_name + "'");
  Attributes attributes = this->attributes();
  ValueList operands;
  while (at_operand() && !at_result()) operands.push_back(operand(scope));
  std::vector<Graph> subgraphs;
  if (accept("{")) {
    do subgraphs.push_back(graph(depth + 1));
    while (!at("}") && peek().kind != TokenKind::end);
    expect("}", "after the sub-graphs");
  }
  append(scope, at_name, *primitive, std::move(operands), std::move(attributes), std::move(subgraphs), location(),
         declared);
}

std::vector<Parser::Declared> Parser::declarations() {
  std::vector<Declared> declared;
  if (peek().kind != TokenKind::value) return declared;
  do {
    Declared& d = declared.emplace_back();
    d.name = expect_kind(TokenKind::value, "the name of a result");
    if (accept(":")) {
      d.typed = true;
      d.type_offset = peek().offset;
      d.type = type();
    }
  } while (accept(","));
  expect("=", "after the results");
  return declared;
}

void Parser::append(Scope& scope, const Token& at, const Primitive& primitive, ValueList operands,
                    Attributes attributes, std::vector<Graph> subgraphs, Location location,
                    const std::vector<Declared>& declared) {
  const Equation* e = nullptr;
  try {
    e = &scope.graph.append(primitive, std::move(operands), std::move(attributes), std::move(subgraphs), location);
  } catch (const Error& error) {
    lexer_.fail(at.offset, error.what());
  }
  if (e->results().size() != declared.size()) {
    lexer_.fail(at.offset, primitive.name + " has " + std::to_string(e->results().size()) + " results, got names for " +
                               std::to_string(declared.size()));
  }
  for (size_t i = 0; i < declared.size(); ++i) {
    const Type& inferred = scope.graph.type(e->result(i));
    if (declared[i].typed && declared[i].type != inferred) {
      lexer_.fail(declared[i].type_offset, "expected the type " + to_string(inferred) + " that " + primitive.name +
                                               " gives, got " + to_string(declared[i].type));
    }
    define(scope, declared[i].name, e->result(i));
  }
}

/// After the last operand, a value may start the next equation: then ':', ',' or '=' follows it.
bool Parser::at_result() const {
  if (peek().kind != TokenKind::value || peek(1).kind != TokenKind::punctuation) return false;
  return std::string_view(":,=").find(spelling(peek(1))) != std::string_view::npos;
}

bool Parser::at_operand() const {
  switch (peek().kind) {
    case TokenKind::value:
    case TokenKind::constant:
    case TokenKind::number:
      return true;
    case TokenKind::punctuation:
      return at("(");
    case TokenKind::identifier:
      return at("true") || at("false") || at("inf") || at("nan");
    default:
      return false;
  }
}

Value Parser::operand(Scope& scope) {
  const Token token = peek();
  if (token.kind == TokenKind::value) {
    next();
    const auto known = scope.values.find(spelling(token));
    if (known == scope.values.end()) {
      lexer_.fail(token.offset, std::string(spelling(token)) + " is not defined before its use");
    }
    return known->second;
  }
  if (token.kind == TokenKind::constant) return constant_operand(scope);
  // The element precedes its type, which is needed to parse it: look ahead.
  const size_t start = at_;
  if (accept("(")) {
    while (!at(")") && peek().kind != TokenKind::end) next();
    expect(")", "after a complex number");
  } else {
    next();
    if (accept("(")) {
      expect_kind(TokenKind::number, "the bits of a NaN");
      expect(")", "after the bits of a NaN");
    }
  }
  expect(":", "and a type after a literal");
  Type t = type();
  const size_t end = at_;
  at_ = start;
  const Literal literal = element(t.dtype);
  expect(":", "after a literal's element");
  at_ = end;
  return scope.graph.add_literal(literal, std::move(t));
}

Value Parser::constant_operand(Scope& scope) {
  const Token token = next();
  const std::string_view name = spelling(token);
  if (const auto known = scope.constants.find(name); known != scope.constants.end()) return known->second;
  const auto section = constants_.find(name);
  if (section == constants_.end()) {
    lexer_.fail(token.offset, "there is no section for constant " + std::string(name));
  }
  const Value v = scope.graph.add_constant(section->second);
  scope.constants.emplace(name, v);
  return v;
}

AnyArray Parser::constant_section() {
  expect("constant", "before a constant");
  expect_kind(TokenKind::constant, "a constant's name");
  expect(":", "after a constant's name");
  const Type t = type();
  expect("=", "after a constant's type");
  return contents(t);
}

}  // namespace text

Graph parse(std::string_view text) { return text::Parser(text).parse(); }

}  // namespace calque
