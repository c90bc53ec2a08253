#pragma once
// What the recursive-descent parsers of text forms share: a position among the tokens, and errors that show it.
#include <string>
#include <string_view>

#include "calque/ir/graph.h"

#include "ir/text/lexer.h"

namespace calque::text {

class TokenStream {
 public:
  /// `punctuation`: characters that are tokens besides those of a graph's text.
  explicit TokenStream(std::string_view text, std::string_view punctuation = {}) : lexer_(text, punctuation) {}

 protected:
  const Token& peek(size_t ahead = 0) const;
  Token next();
  /// Whether the next token is this word or punctuation character.
  bool at(std::string_view spelling) const;
  bool at_end() const { return peek().kind == TokenKind::end; }
  bool accept(std::string_view spelling);
  void expect(std::string_view spelling, const char* where);
  Token expect_kind(TokenKind kind, const char* what);
  std::string describe(const Token& token) const;
  [[noreturn]] void expected(const std::string& what) const;
  [[noreturn]] void fail(const Token& token, const std::string& message) const { lexer_.fail(token.offset, message); }
  std::string_view spelling(const Token& token) const { return lexer_.spelling(token); }

  /// An identifier or a quoted name.
  std::string name(const char* what);
  int64_t integer(const char* what);
  DType dtype();
  /// An element of `dtype` as append_element spells it.
  Literal element(DType dtype);

  Lexer lexer_;
  size_t at_ = 0;
};

}  // namespace calque::text
