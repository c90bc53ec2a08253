#include "ir/text/token_stream.h"

#include <algorithm>

#include "ir/text/text.h"

namespace calque::text {

const Token& TokenStream::peek(size_t ahead) const {
  return lexer_.tokens()[std::min(at_ + ahead, lexer_.tokens().size() - 1)];
}

Token TokenStream::next() {
  const Token token = peek();
  if (token.kind != TokenKind::end) ++at_;
  return token;
}

bool TokenStream::at(std::string_view s) const {
  const Token& t = peek();
  return (t.kind == TokenKind::punctuation || t.kind == TokenKind::identifier) && spelling(t) == s;
}

bool TokenStream::accept(std::string_view s) {
  if (!at(s)) return false;
  next();
  return true;
}

std::string TokenStream::describe(const Token& token) const {
  if (token.kind == TokenKind::end) return "the end of the text";
  constexpr size_t kShown = 40;
  std::string shown(spelling(token).substr(0, kShown));
  return "'" + shown + (token.length > kShown ? "...'" : "'");
}

void TokenStream::expected(const std::string& what) const {
  lexer_.fail(peek().offset, "expected " + what + ", got " + describe(peek()));
}

void TokenStream::expect(std::string_view s, const char* where) {
  if (!accept(s)) expected("'" + std::string(s) + "' " + where);
}

Token TokenStream::expect_kind(TokenKind kind, const char* what) {
  if (peek().kind != kind) expected(what);
  return next();
}

std::string TokenStream::name(const char* what) {
  if (peek().kind == TokenKind::string) return lexer_.unquoted(next());
  return std::string(spelling(expect_kind(TokenKind::identifier, what)));
}

int64_t TokenStream::integer(const char* what) {
  if (peek().kind != TokenKind::number) expected(what);
  int64_t value = 0;
  if (!read_element(spelling(peek()), DType::i64, &value)) expected(what);
  next();
  return value;
}

DType TokenStream::dtype() {
  const auto d = peek().kind == TokenKind::identifier ? dtype_from_name(spelling(peek())) : std::nullopt;
  if (!d) expected("an element type");
  next();
  return *d;
}

Literal TokenStream::element(DType d) {
  Literal literal;
  const auto real = [this](DType d, unsigned char* bits) {
    const Token token = peek();
    if (token.kind != TokenKind::number && token.kind != TokenKind::identifier) {
      expected("an element of type " + std::string(calque::name(d)));
    }
    next();
    std::string text(spelling(token));
    if (text == "nan" && accept("(")) {
      text += "(" + std::string(spelling(expect_kind(TokenKind::number, "the bits of a NaN"))) + ")";
      expect(")", "after the bits of a NaN");
    }
    if (!read_element(text, d, bits)) {
      lexer_.fail(token.offset, "expected an element of type " + std::string(calque::name(d)) + ", got '" +
                                    (text.size() > 40 ? text.substr(0, 40) + "..." : text) + "'");
    }
  };
  if (is_complex(d)) {
    const DType part = real_of(d);
    expect("(", "before a complex number");
    real(part, literal.bytes);
    expect(",", "after the real part");
    real(part, literal.bytes + size_of(part));
    expect(")", "after the imaginary part");
  } else {
    real(d, literal.bytes);
  }
  return literal;
}

}  // namespace calque::text
