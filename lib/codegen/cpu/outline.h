#pragma once
// Splits long blocks: the time of code generation is superlinear in the length of a block.

namespace llvm {
class Module;
}

namespace calque::codegen {

/// Attribute of the functions that long blocks are split into.
inline constexpr const char* kSegmentAttribute = "calque-segment";

/// Splits basic blocks of more than 2,000 instructions into functions of about 1,000, at points where few values are
/// live. Functions that differ only in where their values are and in constants are merged.
void outline(llvm::Module& module);

}  // namespace calque::codegen
