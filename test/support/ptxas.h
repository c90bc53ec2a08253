#pragma once
// Assembles PTX if NVIDIA's assembler is installed, and parses its report on each kernel.
#include <optional>
#include <string>
#include <vector>

namespace calque::test {

/// Path of ptxas: from $PATH or /usr/local/cuda. Empty if there is none.
std::optional<std::string> find_ptxas();
/// The reason given when a test is skipped without ptxas.
inline constexpr const char* kNoPtxas =
    "ptxas, the assembler of NVIDIA's CUDA toolkit, is neither in $PATH nor in /usr/local/cuda/bin";

struct AssembledKernel {
  std::string name;
  int registers = 0;
  int stack_bytes = 0;  ///< local memory
  int spill_stores = 0, spill_loads = 0;
  int shared_bytes = 0;  ///< static
};

struct Assembled {
  bool accepted = false;
  std::string messages;
  std::vector<AssembledKernel> kernels;
};

/// Assembles for `arch`, such as sm_80. ptxas must be installed.
Assembled assemble(const std::string& ptx, const std::string& arch);

/// "" if every kernel of the text assembles for `arch` without spills and local memory, or if there is no assembler;
/// otherwise the error.
std::string ptxas_complaint(const std::string& ptx, const std::string& arch);

}  // namespace calque::test
