#pragma once
// The library's logger: standard error, level from CALQUE_LOG.
#include <string>

#include <spdlog/logger.h>

namespace calque::runtime {

spdlog::logger& log();
/// `off`, `error`, `warn`, `info`, `debug`, `trace`; anything else is reported and taken as `warn`.
void set_log_level(const std::string& level);

}  // namespace calque::runtime
