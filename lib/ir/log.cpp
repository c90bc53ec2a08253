#include "ir/log.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>

#include "ir/environment.h"
#include "ir/fork.h"

namespace calque {
namespace {

/// spdlog's own sinks share a mutex that a child of a fork could find locked.
class StandardError final : public spdlog::sinks::sink {
 public:
  explicit StandardError(const char* pattern) : formatter_(std::make_unique<spdlog::pattern_formatter>(pattern)) {}
  void log(const spdlog::details::log_msg& message) override {
    const std::lock_guard lock(mutex_);
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }
  void flush() override {}
  void set_pattern(const std::string& pattern) override {
    set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern));
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    const std::lock_guard lock(mutex_);
    formatter_ = std::move(formatter);
  }

 private:
  ForkMutex mutex_;
  std::unique_ptr<spdlog::formatter> formatter_;
};

struct Loggers {
  spdlog::logger library{"calque", std::make_shared<StandardError>("calque: %l: %v")};
  spdlog::logger compile{"calque", std::make_shared<StandardError>("calque: compile: %v")};

  Loggers() {
    const char* const words = variable("CALQUE_LOG");
    set(words != nullptr && *words != '\0' ? words : "warn");
  }

  void set(const std::string& words) {
    library.set_level(spdlog::level::warn);
    compile.set_level(spdlog::level::off);
    std::istringstream in(words);
    for (std::string word; std::getline(in, word, ',');) {
      if (word == "compile") {
        compile.set_level(spdlog::level::info);
      } else if (!set_level(word)) {
        library.warn("CALQUE_LOG={}: {} is neither a level nor compile; taken as warn", words, word);
      }
    }
  }

 private:
  /// Sets the level of that name. Returns whether the name is known.
  bool set_level(const std::string& word) {
    for (const auto known : {spdlog::level::off, spdlog::level::err, spdlog::level::warn, spdlog::level::info,
                             spdlog::level::debug, spdlog::level::trace}) {
      const auto name = spdlog::level::to_string_view(known);
      if (word == std::string_view(name.data(), name.size()) || (word == "warn" && known == spdlog::level::warn) ||
          (word == "error" && known == spdlog::level::err)) {
        library.set_level(known);
        return true;
      }
    }
    return false;
  }
};

Loggers& loggers() {
  return process_wide([] { return new Loggers; });
}

}  // namespace

spdlog::logger& library_log() { return loggers().library; }
spdlog::logger& compile_log() { return loggers().compile; }
bool logs_compilations() { return compile_log().should_log(spdlog::level::info); }
void set_log(const std::string& words) { loggers().set(words); }

}  // namespace calque
