#pragma once
// Reads the text of the kernel IR that print.cpp writes, exactly: printing what was read gives the same text.
#include <string_view>
#include <vector>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// The kernels of a text, verified. Throws ParseError (with line and column) for malformed text and CompileError for
/// kernels that break a rule of the IR.
std::vector<Kernel> parse_kernels(std::string_view text);

}  // namespace calque::kernel
