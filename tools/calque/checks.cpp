#include "calque/checks.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include <unistd.h>

#include "ir/text/nearest.h"

namespace calque::cli {

Check whole_number(uint64_t least, uint64_t most) {
  return [least, most](const std::string& text) -> std::string {
    uint64_t n = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, n);
    // CLI11 would read a leading zero as the mark of an octal number.
    const bool decimal = error == std::errc() && rest == end && (text[0] != '0' || text.size() == 1);
    if (decimal && n >= least && n <= most) return {};
    return "a whole number from " + std::to_string(least) + " to " + std::to_string(most) + " was expected, got '" +
           text + "'";
  };
}

Check finite_number(bool positive) {
  return [positive](const std::string& text) -> std::string {
    double x = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, x);
    if (error == std::errc() && rest == end && std::isfinite(x) && (positive ? x > 0 : x >= 0)) return {};
    return std::string("a finite number ") + (positive ? "above 0" : "of at least 0") + " was expected, got '" + text +
           "'";
  };
}

std::string not_empty(const std::string& text) { return text.empty() ? "a value was expected, got an empty text" : ""; }

std::string writable_file(const std::string& text) {
  namespace fs = std::filesystem;
  if (text.empty()) return not_empty(text);
  if (text == "-") return {};
  std::error_code error;
  const fs::path path(text);
  const std::string cannot = "'" + text + "' cannot be written: ";
  if (fs::is_directory(path, error)) return cannot + "it is a folder";
  if (fs::exists(path, error)) return access(path.c_str(), W_OK) == 0 ? "" : cannot + "its permissions forbid it";
  fs::path folder = fs::absolute(path, error).parent_path();
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, error)) return cannot + folder.string() + " is no folder";
  return access(folder.c_str(), W_OK) == 0 ? "" : cannot + "the permissions of " + folder.string() + " forbid it";
}

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view found = text::nearest(word, names);
  return found.empty() ? std::string() : "; the nearest is " + std::string(found);
}

}  // namespace calque::cli
