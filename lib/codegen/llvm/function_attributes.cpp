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

}  // namespace calque::codegen
