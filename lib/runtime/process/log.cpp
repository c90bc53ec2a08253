// The loggers live as long as the program and are never registered with spdlog's registry, which the user may own.
#include "runtime/process/log.h"

#include <memory>
#include <sstream>

#include <spdlog/sinks/stdout_sinks.h>

namespace calque::runtime {
namespace {

spdlog::logger& make_logger(const char* pattern, spdlog::level::level_enum level) {
  auto* made = new spdlog::logger("calque", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  made->set_pattern(pattern);
  made->set_level(level);
  return *made;
}

/// Sets the level of that name. Returns whether the name is known.
bool set_level(const std::string& word) {
  for (const auto known : {spdlog::level::off, spdlog::level::err, spdlog::level::warn, spdlog::level::info,
                           spdlog::level::debug, spdlog::level::trace}) {
    const auto name = spdlog::level::to_string_view(known);
    if (word == std::string_view(name.data(), name.size()) || (word == "warn" && known == spdlog::level::warn) ||
        (word == "error" && known == spdlog::level::err)) {
      log().set_level(known);
      return true;
    }
  }
  return false;
}

}  // namespace

spdlog::logger& log() {
  static spdlog::logger& logger = make_logger("calque: %l: %v", spdlog::level::warn);
  return logger;
}

spdlog::logger& compile_log() {
  static spdlog::logger& logger = make_logger("calque: compile: %v", spdlog::level::off);
  return logger;
}

bool logs_compilations() { return compile_log().should_log(spdlog::level::info); }

void set_log(const std::string& words) {
  compile_log().set_level(spdlog::level::off);
  std::istringstream in(words);
  for (std::string word; std::getline(in, word, ',');) {
    if (word == "compile") {
      compile_log().set_level(spdlog::level::info);
    } else if (!set_level(word)) {
      log().warn("CALQUE_LOG={}: {} is neither a level nor compile; taken as warn", words, word);
    }
  }
}

}  // namespace calque::runtime
