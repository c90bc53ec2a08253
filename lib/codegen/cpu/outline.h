#pragma once
// Large modules in parts: code generation is superlinear in the length of a block and uses one thread for a module.
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Function;
class LLVMContext;
class Module;
}  // namespace llvm

namespace calque::codegen {

/// Cuts straight lines of more than 2,000 instructions into functions of about 1,000, where few values are live.
void outline(llvm::Module& module);

/// Of the function whose instructions are a program's steps, and of those cut out of it.
inline constexpr const char* kStepsAttribute = "calque-steps";

/// A long function that does nothing but pass pointers on, once a call: entries and kernels of hundreds of buffers have
/// them. Of the functions of steps, also one of loops and branches. Such functions are a part of their own, since
/// nothing is gained by optimising them.
bool only_passes_on(const llvm::Function& f);

/// Functions that are compiled together, by part.
using Parts = std::vector<std::vector<llvm::Function*>>;

/// The parts of a large module, in order. One, without names, where the module is small. Depends on nothing but the
/// module.
Parts parts_of(llvm::Module& module);

/// Each part as text for `read_part`, with declarations of what it calls of others. Leaves nothing in the module that
/// is of use.
std::vector<std::string> separate(llvm::Module& module, const Parts& parts);
std::unique_ptr<llvm::Module> read_part(const std::string& text, llvm::LLVMContext& context);

}  // namespace calque::codegen
