#pragma once
// The library's loggers: to standard error, configured by CALQUE_LOG.
#include <string>

#include <spdlog/logger.h>

namespace calque::runtime {

spdlog::logger& log();
/// One line per compilation; off unless `compile` is requested.
spdlog::logger& compile_log();
bool logs_compilations();
/// Accepts a level (`off`, `error`, `warn`, `info`, `debug`, `trace`), `compile`, or both separated by a comma. Any
/// other word is reported, and the level stays `warn`.
void set_log(const std::string& words);

}  // namespace calque::runtime
