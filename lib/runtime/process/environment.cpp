// Interprets the environment once. An unknown value of a variable is reported, never guessed at.
#include "runtime/process/environment.h"

#include <charconv>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <sys/auxv.h>

#include "calque/ir/errors.h"

#include "ir/environment.h"
#include "ir/fork.h"
#include "ir/log.h"

namespace calque::runtime {
namespace {

bool flag(VariableName name) {
  const char* const text = variable(name);
  if (text == nullptr || *text == '\0') return false;
  const std::string_view value(text);
  if (value == "1") return true;
  if (value != "0") library_log().warn("{}={} is neither 0 nor 1; taken as 0", name.c_str(), value);
  return false;
}

int number_of_threads() {
  const char* text = variable("CALQUE_NUM_THREADS");
  if (text == nullptr || *text == '\0') return 0;
  const std::string_view value(text);
  int n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error == std::errc() && end == value.data() + value.size() && n >= 1 && n <= 1024) return n;
  library_log().warn("CALQUE_NUM_THREADS={} is no number from 1 to 1024; all processors are used", value);
  return 0;
}

/// The variable's value in bytes, as 64M or 2G; `otherwise` without one.
size_t bytes(VariableName name, size_t otherwise) {
  const char* text = variable(name);
  if (text == nullptr || *text == '\0') return otherwise;
  const std::string_view value(text);
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  const std::string_view unit(end, static_cast<size_t>(value.data() + value.size() - end));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (error == std::errc() && shift >= 0 && n <= SIZE_MAX >> shift) return static_cast<size_t>(n) << shift;
  library_log().warn("{}={} is no number of bytes such as 64M or 2G; taken as {}M", name.c_str(), value,
                     otherwise >> 20);
  return otherwise;
}

/// The folder of the cache on disk. Programs with another user's rights have none: their code would come from the files
/// of the user who starts them.
std::string cache_folder() {
  if (::getauxval(AT_SECURE) != 0) return {};
  const auto value = [](VariableName name) -> std::string_view {
    const char* text = variable(name);
    return text == nullptr ? "" : text;
  };
  std::error_code ignored;
  if (const std::string_view chosen = value("CALQUE_CACHE_DIR"); !chosen.empty())
    return chosen == "off" ? "" : std::filesystem::absolute(chosen, ignored).string();
  // The specification ignores relative paths.
  if (const std::string_view xdg = value("XDG_CACHE_HOME"); xdg.starts_with('/')) return std::string(xdg) + "/calque";
  if (const std::string_view home = value("HOME"); home.starts_with('/')) return std::string(home) + "/.cache/calque";
  return {};
}

tier tier_of_environment() {
  const char* const text = variable("CALQUE_TIER");
  if (text == nullptr || *text == '\0') return tier::automatic;
  const std::string_view value(text);
  if (value == "quick") return tier::quick;
  if (value == "best") return tier::best;
  if (value != "automatic")
    library_log().warn("CALQUE_TIER={} is none of automatic, quick, best; taken as automatic", value);
  return tier::automatic;
}

Environment read() {
  for (const auto& [name, nearest] : unknown_variables()) {
    library_log().warn("{} is none of the library's variables and has no effect{}", name,
                       nearest.empty() ? "" : fmt::format("; {} is one", nearest));
  }
  Environment e;
  if (const char* text = variable("CALQUE_DUMP"); text != nullptr) e.dump = text;
  if (const char* text = variable("CALQUE_DUMP_AFTER"); text != nullptr) e.dump_after = text;
  e.disable_jit = flag("CALQUE_DISABLE_JIT");
  if (const char* text = variable("CALQUE_DEVICE"); text != nullptr) e.device = text;
  e.strict = flag("CALQUE_STRICT");
  e.guard = flag("CALQUE_GUARD");
  e.sanitize = flag("CALQUE_SANITIZE_CODE");
  e.num_threads = number_of_threads();
  e.tier = tier_of_environment();
  e.cache_folder = cache_folder();
  e.cache_bytes = bytes("CALQUE_CACHE_SIZE", e.cache_bytes);
  e.code_memory = bytes("CALQUE_CODE_MEMORY", e.code_memory);
  if (const char* text = variable("CALQUE_BACKEND"); text != nullptr && *text != '\0') {
    const std::string_view value(text);
    e.reference_backend = value == "reference";
    if (value != "reference" && value != "cpu")
      library_log().warn("CALQUE_BACKEND={} is neither cpu nor reference", value);
  }
  return e;
}

}  // namespace

Environment& mutable_environment() {
  return process_wide([] { return new Environment(read()); });
}

const Environment& environment() { return mutable_environment(); }

}  // namespace calque::runtime
