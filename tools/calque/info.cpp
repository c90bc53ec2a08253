// `calque info`: versions, target, devices and environment, which determine the generated code.
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "calque/commands.h"
#include "calque/device.h"
#include "calque/version.h"

#include "codegen/codegen.h"
#include "codegen/llvm/target.h"
#include "ir/environment.h"
#include "runtime/cuda/cublaslt_search.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/nccl.h"

namespace calque::cli {
namespace {

/// The enabled features of LLVM's feature string: `+avx,-avx10.1,+avx2` becomes `avx avx2`.
std::string present(const std::string& features) {
  std::istringstream list(features);
  std::string all;
  for (std::string feature; std::getline(list, feature, ',');) {
    if (feature.starts_with('+')) all += " " + feature.substr(1);
  }
  return all;
}

/// The cuBLASLt and NCCL that would be used, as far as known without a context.
void tell_libraries(int driver_version) {
  const runtime::SearchList choice = runtime::cublas::chosen_candidates(driver_version);
  const auto library = runtime::cublas::first_that_starts(choice, [](const auto&) { return true; });
  std::cout << "  cuBLASLt: "
            << (library != nullptr ? runtime::cublas::description(*library)
                : choice.named     ? "none: see CALQUE_LIBCUBLASLT"
                                   : "none found")
            << "\n";
  const auto& nccl = runtime::nccl::library();
  std::cout << "  NCCL: " << (nccl == nullptr ? "none found" : runtime::nccl::description(*nccl)) << "\n";
}

/// Each GPU with its driver, or the reason why it cannot be used. Creates no context.
void tell_gpus() {
  const runtime::CudaDevices& all = runtime::cuda_devices();
  for (size_t i = 0; i < all.devices.size(); ++i) {
    if (all.devices[i] != nullptr)
      std::cout << "  " << all.devices[i]->device() << ": " << all.devices[i]->description() << "\n";
    else
      std::cout << "  not usable: " << all.problems[i] << "\n";
  }
  if (all.devices.empty())
    std::cout << "  no GPU: " << (all.problem.empty() ? "the driver shows none" : all.problem) << "\n";
  else
    tell_libraries(all.driver_version);
}

}  // namespace

int info() {
  std::cout << "calque " << CALQUE_VERSION << "\n";
  std::cout << "LLVM " << codegen::llvm_version() << "\n";
  const codegen::TargetInfo target = codegen::resolve_target({});
  std::cout << "target " << target.triple << "\nCPU " << target.cpu << ", vectors of " << target.vector_bits
            << " bits\nfeatures" << present(target.features) << "\n";
  std::cout << "devices";
  for (const Device& device : devices()) std::cout << " " << device;
  std::cout << "\n";
  tell_gpus();
  std::cout << "environment\n";
  for (const EnvironmentVariable& v : kEnvironmentTable) {
    const char* const value = std::getenv(v.name.data());
    std::cout << "  " << v.name << (value ? "=" + std::string(value) : "") << "\n      " << v.meaning
              << "\n      values: " << v.values << "\n      default: " << v.otherwise << (value ? "" : "; not set")
              << "\n";
  }
  return 0;
}

}  // namespace calque::cli
