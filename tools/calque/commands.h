#pragma once
// The subcommands of `calque`: each registers itself with the application and sets the exit status when it runs.
#include <CLI/CLI.hpp>

#include "calque/device.h"
#include "calque/ir/errors.h"

namespace calque::cli {

/// Validates the value of --device.
inline const CLI::Validator device_name(
    [](std::string& text) -> std::string {
      if (text == "reference") return {};
      try {
        parse_device(text);
        return {};
      } catch (const DeviceError&) {
        return text + " is none of reference, cpu, gpu_sim, gpu, gpu:N";
      }
    },
    "reference, cpu, gpu_sim, gpu, gpu:N");

void add_conformance(CLI::App& app, int& status);
void add_opt(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);
void add_lower(CLI::App& app, int& status);
void add_info(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);

}  // namespace calque::cli
