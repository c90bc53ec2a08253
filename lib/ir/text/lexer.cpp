// The input may be arbitrary bytes: anything that is not a token is a ParseError, never a crash.
#include "ir/text/lexer.h"

#include <algorithm>

#include "calque/ir/errors.h"

namespace calque::text {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Lexer::Lexer(std::string_view text, std::string_view punctuation) : text_(text), punctuation_(punctuation) {
  size_t at = 0;
  for (;;) {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\n' || text_[at] == '\t' || text_[at] == '\r')) ++at;
    if (text_.substr(at).starts_with("//")) {
      at = std::min(text_.find('\n', at), text_.size());
      continue;
    }
    Token token{TokenKind::end, at, 0};
    if (at == text_.size()) {
      tokens_.push_back(token);
      return;
    }
    const size_t end = scan(at, token);
    token.length = end - at;
    tokens_.push_back(token);
    at = end;
  }
}

size_t Lexer::scan(size_t at, Token& token) const {
  const auto word_end = [this](size_t from) {
    while (from < text_.size() && is_word(text_[from])) ++from;
    return from;
  };
  const char c = text_[at];
  if (is_letter(c)) {
    token.kind = TokenKind::identifier;
    return word_end(at);
  }
  if (is_digit(c) || c == '-') {
    token.kind = TokenKind::number;
    return scan_number(at);
  }
  if (c == '%' || c == '@') {
    token.kind = c == '%' ? TokenKind::value : TokenKind::constant;
    const size_t end = word_end(at + 1);
    if (end == at + 1) fail(at, std::string("expected a name after '") + c + "'");
    return end;
  }
  if (c == '"') {
    token.kind = TokenKind::string;
    return scan_string(at);
  }
  if (std::string_view("()[]{}<>,:=").find(c) != std::string_view::npos ||
      punctuation_.find(c) != std::string_view::npos) {
    token.kind = TokenKind::punctuation;
    return at + 1;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7f) fail(at, std::string("unexpected character '") + c + "'");
  fail(at, std::string("unexpected byte 0x") + kHex[byte >> 4] + kHex[byte & 15]);
}

size_t Lexer::scan_number(size_t at) const {
  const size_t start = at;
  if (text_[at] == '-') ++at;
  const bool hexadecimal = text_.substr(at).starts_with("0x");
  while (at < text_.size()) {
    const char c = text_[at];
    const char before = at > start ? text_[at - 1] : '\0';
    const bool exponent = before == 'p' || before == 'P' || (!hexadecimal && (before == 'e' || before == 'E'));
    if (!is_word(c) && !(exponent && (c == '+' || c == '-'))) break;
    ++at;
  }
  if (at == start + 1 && text_[start] == '-') fail(start, "expected a number after '-'");
  return at;
}

size_t Lexer::scan_string(size_t at) const {
  for (size_t i = at + 1; i < text_.size(); ++i) {
    if (text_[i] == '"') return i + 1;
    if (text_[i] == '\n') break;
    if (text_[i] != '\\') continue;
    ++i;
    const char escape = i < text_.size() ? text_[i] : '\0';
    if (escape == 'x') {
      if (i + 2 >= text_.size() || hex_digit(text_[i + 1]) < 0 || hex_digit(text_[i + 2]) < 0) {
        fail(i - 1, "expected two hexadecimal digits after \\x");
      }
      i += 2;
    } else if (escape != 'n' && escape != 't' && escape != '"' && escape != '\\') {
      fail(i - 1, "unknown escape in a string");
    }
  }
  fail(at, "the string does not end on its line");
}

std::string Lexer::unquoted(const Token& token) const {
  const std::string_view body = text_.substr(token.offset + 1, token.length - 2);
  std::string out;
  out.reserve(body.size());
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      out += body[i];
      continue;
    }
    switch (body[++i]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'x':
        out += static_cast<char>(hex_digit(body[i + 1]) << 4 | hex_digit(body[i + 2]));
        i += 2;
        break;
      default:
        out += body[i];
    }
  }
  return out;
}

std::string Lexer::position(size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(offset - line_start + 1);
}

void Lexer::fail(size_t offset, const std::string& message) const {
  throw ParseError("parse: " + position(offset) + ": " + message);
}

}  // namespace calque::text
