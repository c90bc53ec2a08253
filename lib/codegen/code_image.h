#pragma once
// Compiled code before linking. Independent of LLVM.
#include <string>
#include <vector>

namespace calque::codegen {

/// The object files of a program, for linking it again in another process on the same processor.
struct CodeImage {
  std::vector<std::string> objects;
  bool scalar = false;  ///< the entry is a scalar entry
  bool quick = false;   ///< see CompiledProgram::is_quick
  /// Objects with functions of lib/math that programs share, and the names of all functions that each defines.
  struct MathObject {
    std::vector<std::string> names;
    std::string object;
  };
  std::vector<MathObject> math;
  /// The functions of lib/math that the program calls: each is defined by one of `math`.
  std::vector<std::string> math_functions;
};

}  // namespace calque::codegen
