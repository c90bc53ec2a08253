#pragma once
// Assembles PTX where NVIDIA's assembler is installed, and reads what it says of each kernel.
#include <optional>
#include <string>
#include <vector>

namespace calque::test {

/// Path of ptxas: of $PATH, else of /usr/local/cuda. Nothing where there is none.
std::optional<std::string> find_ptxas();
/// Why a test is skipped where it finds none.
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

/// Assembles for `arch`, as sm_80. There must be a ptxas.
Assembled assemble(const std::string& ptx, const std::string& arch);

/// "" where every kernel of the text assembles for `arch` without spills and local memory, or where there is no
/// assembler; else what is wrong.
std::string ptxas_complaint(const std::string& ptx, const std::string& arch);

}  // namespace calque::test
