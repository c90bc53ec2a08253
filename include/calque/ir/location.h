#pragma once
// A location names a line of the user's program. File names are static or interned strings, so locations are trivially
// copyable.
#include <cstdint>
#include <iosfwd>
#include <source_location>
#include <string>
#include <string_view>

namespace calque {

/// The type of default arguments that capture the caller's line.
using Loc = std::source_location;

/// A position in a source file, recorded by each equation. Line 0 means unknown.
class Location {
 public:
  constexpr Location() = default;
  constexpr Location(const Loc& loc) : file_(loc.file_name()), line_(loc.line()), column_(loc.column()) {}
  /// `file` must outlive the program; use `intern_file` for computed names.
  constexpr Location(const char* file, uint32_t line, uint32_t column = 0)
      : file_(file), line_(line), column_(column) {}

  /// The file's name as the compiler (or the text) gave it; empty when unknown.
  constexpr const char* file_name() const { return file_; }
  /// 1-based; 0 when unknown.
  constexpr uint32_t line() const { return line_; }
  /// 1-based. Compilers disagree about it, so only messages may depend on it.
  constexpr uint32_t column() const { return column_; }
  /// True when the line is known.
  constexpr bool known() const { return line_ != 0; }

 private:
  const char* file_ = "";
  uint32_t line_ = 0;
  uint32_t column_ = 0;
};

/// A copy of `name` that lives as long as the program; equal names return the same pointer. Thread-safe.
const char* intern_file(std::string_view name);

/// `file.cpp:42` with the base name of the file, as in error messages; empty when unknown.
std::string to_string(const Location& location);

/// `file.cpp:42`, or `unknown`.
std::ostream& operator<<(std::ostream& out, const Location& location);

/// ` (file.cpp:42)`, the end of an error message; empty when unknown.
std::string where_text(const Location& location);

}  // namespace calque
