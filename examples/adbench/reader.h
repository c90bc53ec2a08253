#pragma once
// Reads the text files of ADBench: fields separated by white space or colons.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <calque/calque.h>

namespace adbench {
namespace cq = calque;

/// The fields of a file, read from front to back. Every error is a std::runtime_error of the form `file:line: what was
/// expected, what came`.
class Reader {
 public:
  /// Throws when the file cannot be read.
  explicit Reader(std::string path, std::string_view separators = " \t\r") : path_(std::move(path)) {
    std::ifstream file(path_, std::ios::binary);
    if (!file) throw std::runtime_error(path_ + ": cannot be opened");
    text_.assign(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) throw std::runtime_error(path_ + ": cannot be read");
    int64_t line = 1;
    for (size_t i = 0; i < text_.size(); ++i) {
      const auto separates = [&](char c) { return c == '\n' || separators.find(c) != std::string_view::npos; };
      if (text_[i] == '\n') ++line;
      if (separates(text_[i])) continue;
      const size_t start = i;
      while (i + 1 < text_.size() && !separates(text_[i + 1])) ++i;
      fields_.push_back({start, i + 1 - start, line});
    }
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// The number of fields that are left.
  int64_t left() const { return static_cast<int64_t>(fields_.size() - next_); }

  std::string word(const std::string& what) { return std::string(field(what)); }

  double number(const std::string& what) {
    std::string_view text = field(what);
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) mismatch("a number", what);
    return value;
  }

  /// An integer in [low, high].
  int64_t integer(const std::string& what, int64_t low, int64_t high = std::numeric_limits<int64_t>::max()) {
    const std::string_view text = field(what);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) mismatch("an integer", what);
    if (value < low) mismatch("an integer of at least " + std::to_string(low), what);
    if (value > high) mismatch("an integer of at most " + std::to_string(high), what);
    return value;
  }

  /// An array of numbers, row by row.
  cq::Array<double> numbers(const std::string& what, const std::vector<int64_t>& shape) {
    std::vector<double> values(static_cast<size_t>(expect(what, shape)));
    for (double& value : values) value = number(what);
    return cq::Array<double>::from(values, cq::Shape(shape));
  }

  /// Throws when fewer fields are left than an array of this shape has elements, which are counted.
  int64_t expect(const std::string& what, const std::vector<int64_t>& shape) const {
    int64_t count = 1;
    for (const int64_t extent : shape) {
      if (extent > 0 && count > left() / extent) {
        fail("expected more numbers for " + what + ", the file has only " + std::to_string(left()) + " left");
      }
      count *= extent;
    }
    return count;
  }

  /// Throws unless everything has been read.
  void finish() {
    if (next_ < fields_.size()) fail("expected the end of the file, got '" + std::string(field("")) + "'");
  }

  /// Throws an error at the field read last.
  [[noreturn]] void fail(const std::string& message) const {
    const int64_t line = next_ > 0 ? fields_[next_ - 1].line : 1;
    throw std::runtime_error(path_ + ":" + std::to_string(line) + ": " + message);
  }

 private:
  struct Field {
    size_t start, size;
    int64_t line;
  };

  std::string_view text_of(const Field& f) const { return std::string_view(text_).substr(f.start, f.size); }
  std::string_view field(const std::string& what) {
    if (next_ == fields_.size()) fail("expected " + what + ", the file ends");
    return text_of(fields_[next_++]);
  }
  [[noreturn]] void mismatch(const std::string& expected, const std::string& what) const {
    fail("expected " + expected + " for " + what + ", got '" + std::string(text_of(fields_[next_ - 1])) + "'");
  }

  std::string path_, text_;
  std::vector<Field> fields_;
  size_t next_ = 0;
};

}  // namespace adbench
