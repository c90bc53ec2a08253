// `calque info`: what decides about the code that is generated here.
#include <cstdlib>
#include <iostream>

#include "calque/commands.h"
#include "calque/device.h"

#include "codegen/codegen.h"
#include "codegen/target.h"
#include "codegen/version.h"
#include "runtime/environment.h"

namespace calque::cli {
namespace {

int info() {
  std::cout << "calque " << CALQUE_VERSION << "\n";
  std::cout << "LLVM " << codegen::llvm_version() << "\n";
  const codegen::TargetInfo target = codegen::resolve_target({});
  std::cout << "target " << target.triple << "\nCPU " << target.cpu << ", vectors of " << target.vector_bits
            << " bits\nfeatures " << target.features << "\n";
  std::cout << "devices";
  for (const Device& device : devices()) std::cout << " " << device;
  std::cout << "\nenvironment\n";
  for (const runtime::Variable& v : runtime::environment_table()) {
    const char* value = std::getenv(std::string(v.name).c_str());
    std::cout << "  " << v.name << (value ? "=" + std::string(value) : " (not set)") << "\n      " << v.values << ": "
              << v.meaning << "\n";
  }
  return 0;
}

}  // namespace

void add_info(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("info", "Prints versions, the target, devices and environment variables");
  command->callback([&status] { status = info(); });
}

}  // namespace calque::cli
