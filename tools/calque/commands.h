#pragma once
// The subcommands of `calque`: each adds itself to the application, and sets the exit status when it has run.
#include <CLI/CLI.hpp>

namespace calque::cli {

void add_conformance(CLI::App& app, int& status);
void add_opt(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);
void add_lower(CLI::App& app, int& status);
void add_info(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);

}  // namespace calque::cli
