#include "ir/text/value_parser.h"

#include <charconv>
#include <cstring>

#include "ir/text/text.h"
#include "ir/values/bytes.h"

namespace calque::text {

Type ValueParser::type() {
  const size_t start = peek().offset;
  const DType d = dtype();
  expect("[", "after an element type");
  Shape::Dims dims;
  if (!accept("]")) {
    do {
      const Token token = peek();
      const int64_t extent = integer("an extent");
      if (extent < 0) lexer_.fail(token.offset, "an extent is at least 0, got " + std::to_string(extent));
      if (dims.size() == kMaxRank) lexer_.fail(token.offset, "a shape has too many dimensions");
      dims.push_back(extent);
    } while (accept(","));
    expect("]", "or ',' after an extent");
  }
  Type t{d, Shape(std::span<const int64_t>(dims))};
  if (!addressable(t)) lexer_.fail(start, "the type " + to_string(t) + " is too large");
  return t;
}

Attributes ValueParser::attributes() {
  Attributes attributes;
  if (!accept("[")) return attributes;
  if (accept("]")) return attributes;
  do {
    const Token token = peek();
    const std::string_view key = intern(name("the name of an attribute"));
    if (attributes.has(key)) lexer_.fail(token.offset, "attribute " + std::string(key) + " is given twice");
    expect("=", "after an attribute's name");
    attributes.set(key, attribute());
  } while (accept(","));
  expect("]", "or ',' after an attribute");
  return attributes;
}

AttributeValue ValueParser::attribute() {
  const Token token = peek();
  if (token.kind == TokenKind::string) return lexer_.unquoted(next());
  if (accept("true")) return true;
  if (accept("false")) return false;
  if (accept("[")) {
    std::vector<int64_t> items;
    if (accept("]")) return items;
    do items.push_back(integer("an integer"));
    while (accept(","));
    expect("]", "or ',' after an integer");
    return items;
  }
  if (accept("(")) {
    std::vector<Type> types;
    if (accept(")")) return types;
    do types.push_back(type());
    while (accept(","));
    expect(")", "or ',' after a type");
    return types;
  }
  if (accept("<")) {
    auto opaque = std::make_shared<const UnboundOpaque>(name("the label of an opaque attribute"));
    expect(">", "after the label of an opaque attribute");
    return std::shared_ptr<const Opaque>(std::move(opaque));
  }
  if (token.kind == TokenKind::number && spelling(token).find_first_of(".einxp") == std::string_view::npos) {
    return integer("a 64-bit integer");
  }
  if (token.kind == TokenKind::number || at("inf") || at("nan")) return element(DType::f64).as<double>();
  if (token.kind == TokenKind::identifier && dtype_from_name(spelling(token))) return dtype();
  expected("an attribute's value");
}

Location ValueParser::location() {
  if (!at("loc")) return {};
  next();
  expect("(", "after loc");
  const Token file = expect_kind(TokenKind::string, "a file name in quotes");
  expect(":", "after a file name");
  const auto coordinate = [this](const char* what) {
    const Token token = peek();
    const int64_t n = integer(what);
    if (n < 0 || n > UINT32_MAX) lexer_.fail(token.offset, std::string(what) + " is out of range");
    return static_cast<uint32_t>(n);
  };
  const uint32_t line = coordinate("a line");
  expect(":", "after a line");
  const uint32_t column = coordinate("a column");
  expect(")", "after a location");
  return Location(intern_file(lexer_.unquoted(file)), line, column);
}

// ---- contents of arrays

AnyArray ValueParser::contents(const Type& t) {
  if (at("[")) return elements(t);
  const Token kind = peek();
  const bool hash = accept("xxh3");
  if (!hash && !accept("base64")) expected("'[', 'base64' or 'xxh3'");
  const Token contents = expect_kind(TokenKind::string, "contents in quotes");
  const std::string text = lexer_.unquoted(contents);
  const size_t bytes = bytes_of(t);
  if (hash) {
    ContentHash h;
    const char* middle = text.data() + 16;
    const bool good = text.size() == 32 && std::from_chars(text.data(), middle, h.high, 16).ptr == middle &&
                      std::from_chars(middle, middle + 16, h.low, 16).ptr == middle + 16;
    if (!good) lexer_.fail(contents.offset, "expected 32 hexadecimal digits");
    return AnyArray(t, detail::Storage::absent(bytes, h));
  }
  const auto data = read_base64(text);
  if (!data) lexer_.fail(contents.offset, "the contents are not base64");
  if (data->size() != bytes) {
    lexer_.fail(kind.offset,
                to_string(t) + " has " + std::to_string(bytes) + " bytes, got " + std::to_string(data->size()));
  }
  if (is_bool(t.dtype) && data->find_first_not_of(std::string_view("\0\1", 2)) != std::string::npos) {
    lexer_.fail(contents.offset, "a byte of a bool array is neither 0 nor 1");
  }
  AnyArray array = AnyArray::uninitialized(t);
  if (bytes != 0) std::memcpy(array.mutable_data(), data->data(), bytes);
  return array;
}

AnyArray ValueParser::elements(const Type& t) {
  const size_t start = peek().offset;
  expect("[", "before the elements");
  std::vector<unsigned char> bytes;  // grows with the text, not with the declared size
  size_t count = 0;
  if (!accept("]")) {
    do {
      const Literal e = element(t.dtype);
      bytes.insert(bytes.end(), e.bytes, e.bytes + size_of(t.dtype));
      ++count;
    } while (accept(","));
    expect("]", "or ',' after an element");
  }
  const auto needed = static_cast<size_t>(t.shape.num_elements());
  if (count != needed) {
    lexer_.fail(start, to_string(t) + " has " + std::to_string(needed) + " elements, got " + std::to_string(count));
  }
  AnyArray array = AnyArray::uninitialized(t);
  if (!bytes.empty()) std::memcpy(array.mutable_data(), bytes.data(), bytes.size());
  return array;
}

}  // namespace calque::text
