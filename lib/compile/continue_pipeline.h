#pragma once
// Compilation that goes on from the text that a pass printed.
#include <string_view>

#include "calque/device.h"

#include "compile/executable.h"

namespace calque::runtime {

/// The program, before code generation, that the passes after `pass` make of the text that it printed: a graph, or a
/// program. Donations and layouts are part of the text of programs, not taken from the options. With kind gpu and
/// options.device the CPU, the default limits of GPUs hold. Throws Error, which lists the passes, for a pass whose text
/// cannot be read back, ParseError, and CompileError.
kernel::Program continued_program(std::string_view text, std::string_view pass, Device::Kind kind,
                                  const CompileOptions& options, PassLog* log = nullptr);

}  // namespace calque::runtime
