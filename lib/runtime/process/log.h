#pragma once
// The library's loggers: standard error, as CALQUE_LOG says.
#include <string>

#include <spdlog/logger.h>

namespace calque::runtime {

spdlog::logger& log();
/// A line for each compilation; silent unless `compile` is asked for.
spdlog::logger& compile_log();
bool logs_compilations();
/// A level (`off`, `error`, `warn`, `info`, `debug`, `trace`), `compile`, or both with a comma between. A word that is
/// neither is reported, and the level stays `warn`.
void set_log(const std::string& words);

}  // namespace calque::runtime
