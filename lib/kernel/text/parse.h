#pragma once
// Reads the text of the kernel IR that print.cpp and print_program.cpp write, exactly: printing what was read gives the
// same text.
#include <string_view>
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// The kernels of a text, verified. Throws ParseError (with line and column) for malformed text and CompileError for
/// kernels that break a rule of the IR. `from`: the offset at which the kernels of a program's text begin.
std::vector<Kernel> parse_kernels(std::string_view text, size_t from = 0);

/// The program of a text, verified. Throws like parse_kernels.
Program parse_program(std::string_view text);
/// Whether the text begins like that of a program.
bool is_program(std::string_view text);

/// The characters that are tokens of a program's text besides those of a graph's.
inline constexpr std::string_view kProgramPunctuation = "+*?#";

}  // namespace calque::kernel
