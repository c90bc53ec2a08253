#pragma once
// Tokens of the text form of graphs. A token stores its offset; lines and columns are computed only for errors.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace calque::text {

enum class TokenKind : uint8_t {
  identifier,   // add, f32, true
  number,       // 3, -0.5, 0x1p-3, -inf
  value,        // %name
  constant,     // @name
  string,       // "..." with escapes
  punctuation,  // ( ) [ ] { } < > , : =
  end
};

struct Token {
  TokenKind kind = TokenKind::end;
  size_t offset = 0;
  size_t length = 0;
};

class Lexer {
 public:
  /// Tokenizes the whole text. Throws ParseError at a character that starts no token and at an unterminated string.
  /// `punctuation`: characters that are tokens besides those of a graph's text.
  explicit Lexer(std::string_view text, std::string_view punctuation = {});

  const std::vector<Token>& tokens() const { return tokens_; }
  std::string_view spelling(const Token& token) const { return text_.substr(token.offset, token.length); }
  /// The unescaped contents of a string token.
  std::string unquoted(const Token& token) const;
  /// `line 3, column 14`.
  std::string position(size_t offset) const;
  [[noreturn]] void fail(size_t offset, const std::string& message) const;

 private:
  size_t scan(size_t at, Token& token) const;
  size_t scan_number(size_t at) const;
  size_t scan_string(size_t at) const;

  std::string_view text_, punctuation_;
  std::vector<Token> tokens_;
};

}  // namespace calque::text
