#pragma once
// The library's loggers: to standard error, configured by CALQUE_LOG. They live as long as the program and are never
// registered with spdlog's registry, which the user may own.
#include <string>

#include <spdlog/logger.h>

namespace calque {

spdlog::logger& library_log();
/// One line per compilation; off unless `compile` is requested.
spdlog::logger& compile_log();
bool logs_compilations();
/// In place of CALQUE_LOG: a level (`off`, `error`, `warn`, `info`, `debug`, `trace`), `compile`, or both separated by
/// a comma. Any other word is reported, and the level stays.
void set_log(const std::string& words);

}  // namespace calque
