#include "codegen/llvm/function_attributes.h"

#include <string>

namespace calque::codegen {

void set_function_attributes(llvm::Function& f, const TargetInfo& target, const CodegenOptions& options) {
  f.setDoesNotThrow();
  f.addFnAttr("target-cpu", target.cpu);
  if (!target.features.empty()) f.addFnAttr("target-features", target.features);
  const std::string width = std::to_string(target.vector_bits);
  f.addFnAttr("prefer-vector-width", width);
  f.addFnAttr("min-legal-vector-width", width);
  if (options.flush_subnormals) f.addFnAttr("denormal-fp-math", "preserve-sign,preserve-sign");
  if (options.sanitize) f.addFnAttr(llvm::Attribute::SanitizeAddress);
}

namespace {

constexpr unsigned kStackBits = 128;  ///< the alignment that the calling conventions of x86-64 and AArch64 promise

bool has_wide_vectors(const llvm::Function& function) {
  for (const llvm::BasicBlock& block : function)
    for (const llvm::Instruction& i : block)
      if (i.getType()->isVectorTy() && i.getType()->getPrimitiveSizeInBits() > kStackBits) return true;
  return false;
}

}  // namespace

void align_frames(llvm::Module& module, const TargetInfo& target) {
  if (target.vector_bits <= static_cast<int>(kStackBits)) return;
  const llvm::Align alignment(static_cast<uint64_t>(target.vector_bits) / 8);
  for (llvm::Function& f : module)
    if (has_wide_vectors(f)) f.addFnAttr(llvm::Attribute::getWithStackAlignment(f.getContext(), alignment));
}

}  // namespace calque::codegen
