#pragma once
// Large modules in parts: code generation is superlinear in the length of a block and uses one thread for a module.
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace calque::codegen {

/// Cuts straight lines of more than 2,000 instructions into functions of about 1,000, where few values are live.
void outline(llvm::Module& module);

/// Which functions of a large module are compiled together: names by part, in order. One part where the module is
/// small. Depends on nothing but the module.
std::vector<std::vector<std::string>> parts_of(const llvm::Module& module);

/// The module as text that `part_of` reads, every function with a name that other parts can refer to.
std::string shared_form(llvm::Module& module);
/// A module with those functions of the shared form alone; the others are declared.
std::unique_ptr<llvm::Module> part_of(const std::string& shared, const std::vector<std::string>& functions,
                                      llvm::LLVMContext& context);

}  // namespace calque::codegen
