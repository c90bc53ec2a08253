// The logger lives as long as the program and is never registered with spdlog's registry, which the user may own.
#include "runtime/log.h"

#include <memory>

#include <spdlog/sinks/stdout_sinks.h>

namespace calque::runtime {

spdlog::logger& log() {
  static spdlog::logger& logger = [&]() -> spdlog::logger& {
    auto* made = new spdlog::logger("calque", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("calque: %l: %v");
    made->set_level(spdlog::level::warn);
    return *made;
  }();
  return logger;
}

void set_log_level(const std::string& level) {
  for (const auto known : {spdlog::level::off, spdlog::level::err, spdlog::level::warn, spdlog::level::info,
                           spdlog::level::debug, spdlog::level::trace}) {
    const auto name = spdlog::level::to_string_view(known);
    if (level == std::string_view(name.data(), name.size()) || (level == "warn" && known == spdlog::level::warn) ||
        (level == "error" && known == spdlog::level::err)) {
      log().set_level(known);
      return;
    }
  }
  log().warn("CALQUE_LOG={} is no level; taken as warn", level);
}

}  // namespace calque::runtime
