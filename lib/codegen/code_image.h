#pragma once
// Compiled code before linking. Independent of LLVM.
#include <optional>
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

/// Keeps objects with functions of lib/math between processes. Thread-safe.
class MathStore {
 public:
  virtual ~MathStore() = default;
  /// The object that was stored under the key, which the caller makes unique among targets and modes.
  virtual std::optional<CodeImage::MathObject> load(const std::string& key) const = 0;
  virtual void store(const std::string& key, const CodeImage::MathObject& object) const noexcept = 0;
};

}  // namespace calque::codegen
