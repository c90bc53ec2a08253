#pragma once
// Joins short kernels that run one after another: each function that LLVM compiles passes through more than a hundred
// passes, which takes longer than what they do to a few instructions.
#include <vector>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace calque::codegen {

/// Attribute of kernels that run for so short a time that only their number matters.
inline constexpr const char* kShortAttribute = "calque-short";

/// Which kernels are joined: in code that is to be made quickly, all that have few instructions.
enum class Joined : unsigned char { short_kernels, all };

/// Moves kernels whose calls follow each other into one function. Each keeps the instructions that it had been
/// optimized to, so that results keep their bits, and what its parameters said of aliases becomes metadata of its
/// accesses. A kernel that two calls share is copied; one of more calls stays a function of its own. Returns the
/// functions that it made.
std::vector<llvm::Function*> join_kernels(llvm::Module& module, Joined which = Joined::short_kernels);

}  // namespace calque::codegen
