// Spellings round-trip bit by bit, including NaN payloads, signed zeros and every 16-bit float.
#include "ir/text/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "calque/ir/rounding.h"

namespace calque::text {
namespace {

template <class T>
void append_number(std::string& out, T value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(buffer.data(), end);
}

void append_hex(std::string& out, uint64_t value) {
  std::array<char, 16> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, 16).ptr;
  out += "0x";
  out.append(buffer.data(), end);
}

template <class T>
struct BitsOf {
  using type = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
};

template <class T>
typename BitsOf<T>::type bits_of(T value) {
  typename BitsOf<T>::type bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The bits of `nan` and `-nan`: quiet, no payload.
template <class T>
constexpr typename BitsOf<T>::type default_nan() {
  if constexpr (std::is_same_v<T, float16>) return 0x7e00;
  if constexpr (std::is_same_v<T, bfloat16>) return 0x7fc0;
  if constexpr (std::is_same_v<T, float>) return 0x7fc00000;
  if constexpr (std::is_same_v<T, double>) return 0x7ff8000000000000;
}

template <class T>
constexpr typename BitsOf<T>::type infinity_bits() {
  if constexpr (std::is_same_v<T, float16>) return 0x7c00;
  if constexpr (std::is_same_v<T, bfloat16>) return 0x7f80;
  if constexpr (std::is_same_v<T, float>) return 0x7f800000;
  if constexpr (std::is_same_v<T, double>) return 0x7ff0000000000000;
}

template <class T>
void append_floating(std::string& out, T value) {
  const auto bits = bits_of(value);
  constexpr auto kSign = static_cast<decltype(bits)>(decltype(bits){1} << (sizeof(T) * 8 - 1));
  const auto magnitude = static_cast<decltype(bits)>(bits & static_cast<decltype(bits)>(~kSign));
  if (magnitude > infinity_bits<T>()) {
    if (magnitude != default_nan<T>()) {
      out += "nan(";
      append_hex(out, bits);
      out += ')';
    } else {
      out += bits & kSign ? "-nan" : "nan";
    }
    return;
  }
  if constexpr (sizeof(T) == 2) {
    std::array<char, 32> buffer;
    const auto wide = static_cast<float>(value);
    for (int precision = 1; precision <= 9; ++precision) {
      const auto end =
          std::to_chars(buffer.data(), buffer.data() + buffer.size(), wide, std::chars_format::general, precision).ptr;
      double read = 0;
      if (std::from_chars(buffer.data(), end, read).ec != std::errc()) continue;
      if (bits_of(round_once<T>(read)) != bits) continue;
      out.append(buffer.data(), end);
      return;
    }
    append_number(out, wide);
  } else {
    append_number(out, value);
  }
}

template <class T>
bool read_floating(std::string_view token, T& value) {
  using Bits = typename BitsOf<T>::type;
  Bits bits = 0;
  const auto store = [&] {
    std::memcpy(static_cast<void*>(&value), &bits, sizeof bits);
    return true;
  };
  const bool negative = !token.empty() && token.front() == '-';
  std::string_view rest = negative ? token.substr(1) : token;
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (sizeof(T) * 8 - 1));
  if (rest == "inf" || rest == "nan") {
    bits = rest == "inf" ? infinity_bits<T>() : default_nan<T>();
    if (negative) bits = static_cast<Bits>(bits | kSign);
    return store();
  }
  if (rest.starts_with("nan(0x") && rest.ends_with(")") && !negative) {
    rest = rest.substr(6, rest.size() - 7);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bits, 16);
    if (error != std::errc() || end != rest.data() + rest.size()) return false;
    return static_cast<Bits>(bits & static_cast<Bits>(~kSign)) > infinity_bits<T>() && store();
  }
  const bool hexadecimal = rest.starts_with("0x");
  if (hexadecimal) rest.remove_prefix(2);
  if (rest.empty() || rest.front() == '-') return false;
  const auto format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
  std::conditional_t<sizeof(T) == 2, double, T> read = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), read, format);
  if (error != std::errc() || end != rest.data() + rest.size() || !std::isfinite(read)) return false;
  if (negative) read = -read;
  if constexpr (sizeof(T) == 2) {
    value = round_once<T>(read);
    bits = bits_of(value);
    return static_cast<Bits>(bits & static_cast<Bits>(~kSign)) < infinity_bits<T>();
  } else {
    value = read;
    return true;
  }
}

}  // namespace

void append_int(std::string& out, int64_t value) { append_number(out, value); }

void append_shape(std::string& out, const Shape& shape) {
  out += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) out += ',';
    append_number(out, shape[i]);
  }
  out += ']';
}

void append_type(std::string& out, const Type& type) {
  out += name(type.dtype);
  append_shape(out, type.shape);
}

void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

bool is_identifier(std::string_view text) {
  if (text.empty()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool inner = (c >= '0' && c <= '9') || c == '.';
    if (!letter && !(inner && i != 0)) return false;
  }
  return true;
}

void append_name(std::string& out, std::string_view name) {
  if (is_identifier(name)) {
    out += name;
  } else {
    append_quoted(out, name);
  }
}

void append_float(std::string& out, double value) {
  const size_t start = out.size();
  append_floating(out, value);
  if (out.find_first_of(".en", start) == std::string::npos) out += ".0";
}

void append_element(std::string& out, DType dtype, const void* bits) {
  visit_dtype(dtype, [&]<class T>() {
    T value;
    std::memcpy(static_cast<void*>(&value), bits, sizeof value);
    if constexpr (std::is_same_v<T, bool>) {
      out += value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      append_number(out, value);
    } else if constexpr (is_complex(dtype_of<T>)) {
      out += '(';
      append_floating(out, value.real());
      out += ',';
      append_floating(out, value.imag());
      out += ')';
    } else {
      append_floating(out, value);
    }
  });
}

bool read_element(std::string_view token, DType dtype, void* bits) {
  return visit_dtype(dtype, [&]<class T>() {
    T value{};
    if constexpr (std::is_same_v<T, bool>) {
      if (token != "true" && token != "false") return false;
      value = token == "true";
    } else if constexpr (std::is_integral_v<T>) {
      const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
      if (error != std::errc() || end != token.data() + token.size()) return false;
    } else if constexpr (is_complex(dtype_of<T>)) {
      return false;
    } else if (!read_floating(token, value)) {
      return false;
    }
    std::memcpy(bits, &value, sizeof value);
    return true;
  });
}

void append_attribute(std::string& out, const AttributeValue& value) {
  std::visit(
      [&out]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, bool>) {
          out += v ? "true" : "false";
        } else if constexpr (std::is_same_v<T, int64_t>) {
          append_number(out, v);
        } else if constexpr (std::is_same_v<T, double>) {
          append_float(out, v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          append_quoted(out, v);
        } else if constexpr (std::is_same_v<T, DType>) {
          out += name(v);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          out += '[';
          for (size_t i = 0; i < v.size(); ++i) {
            if (i != 0) out += ',';
            append_number(out, v[i]);
          }
          out += ']';
        } else if constexpr (std::is_same_v<T, std::vector<Type>>) {
          out += '(';
          for (size_t i = 0; i < v.size(); ++i) {
            if (i != 0) out += ", ";
            append_type(out, v[i]);
          }
          out += ')';
        } else {
          out += '<';
          append_name(out, v ? v->label() : std::string("null"));
          out += '>';
        }
      },
      value);
}

void append_location(std::string& out, const Location& location) {
  out += "loc(";
  append_quoted(out, location.file_name());
  out += ':';
  append_number(out, location.line());
  out += ':';
  append_number(out, location.column());
  out += ')';
}

void append_base64(std::string& out, const void* data, size_t bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* p = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; i += 3) {
    const size_t left = std::min<size_t>(3, bytes - i);
    const uint32_t group = static_cast<uint32_t>(p[i]) << 16 | (left > 1 ? static_cast<uint32_t>(p[i + 1]) << 8 : 0) |
                           (left > 2 ? static_cast<uint32_t>(p[i + 2]) : 0);
    out += kDigits[group >> 18];
    out += kDigits[group >> 12 & 63];
    out += left > 1 ? kDigits[group >> 6 & 63] : '=';
    out += left > 2 ? kDigits[group & 63] : '=';
  }
}

std::optional<std::string> read_base64(std::string_view text) {
  const auto digit = [](char c) -> int {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
  };
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const int padding = last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0;
    uint32_t group = 0;
    for (size_t j = 0; j < 4; ++j) {
      const int d = j >= 4 - static_cast<size_t>(padding) ? 0 : digit(text[i + j]);
      if (d < 0) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(d);
    }
    out += static_cast<char>(group >> 16);
    if (padding < 2) out += static_cast<char>(group >> 8);
    if (padding < 1) out += static_cast<char>(group);
  }
  return out;
}

bool addressable(const Type& type) {
  int64_t bytes = static_cast<int64_t>(size_of(type.dtype));
  for (const int64_t d : type.shape) {
    if (d > 1 && __builtin_mul_overflow(bytes, d, &bytes)) return false;
  }
  return bytes <= kMaxBytes;
}

bool begins_with(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    const size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return false;
    text.remove_prefix(start);
    if (!text.starts_with("//")) return text.starts_with(word);
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return false;
}

}  // namespace calque::text
