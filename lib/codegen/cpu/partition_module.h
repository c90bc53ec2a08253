#pragma once
// Partitions large modules, since a module is compiled by one thread.
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Function;
class LLVMContext;
class Module;
}  // namespace llvm

namespace calque::codegen {

/// Attribute of the function whose instructions are the steps of a program, and of functions outlined from it.
inline constexpr const char* kStepsAttribute = "calque-steps";

/// A long function that only forwards pointers, once per call: entries and kernels of hundreds of buffers have such
/// functions. A function of steps may have loops and branches too. These functions are a separate partition, since
/// optimising them gains nothing.
bool only_forwards_pointers(const llvm::Function& f);

/// The functions of each partition, which are compiled together.
using Partitions = std::vector<std::vector<llvm::Function*>>;

/// The partitions of a large module, in order. A small module has one, without functions. Depends on the module alone.
Partitions partition_functions(llvm::Module& module);

/// Each partition as bitcode for `read_partition`, with declarations of the functions of others that it calls. The
/// module is unusable afterwards.
std::vector<std::string> extract_partitions(llvm::Module& module, const Partitions& partitions);
std::unique_ptr<llvm::Module> read_partition(const std::string& text, llvm::LLVMContext& context);

}  // namespace calque::codegen
