#pragma once
// Functions of lib/math in a module: `calque.sin.f32x16`, with the common path, and the out-of-line function
// `calque.sin.f32x16.general`, which it calls if any lane needs it. Their tables are constants of the module.
#include <string>
#include <vector>

#include "codegen/llvm/llvm.h"
#include "codegen/scalar/scalar_ops.h"
#include "math/forms.h"

namespace calque::codegen {

/// The forms in which code for a target computes functions.
math::MathForms math_forms(const TargetInfo& target, const CodegenOptions& options);

/// Functions of the process that quick code calls, of a primitive's id, 1 if multiplications and additions are fused,
/// the number of elements, and the operands, the second the first itself if there is one: a function of lib/math, whose
/// results replace the first operand.
inline constexpr const char *kEvaluateF32 = "calque_evaluate_f32", *kEvaluateF64 = "calque_evaluate_f64";

/// A function of lib/math that a module declares and calls.
struct MathUse {
  std::string name;
  unsigned operands = 0;
};
std::vector<MathUse> math_uses(const llvm::Module& module);

class MathFunctions {
 public:
  MathFunctions(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options)
      : module_(module), target_(target), options_(options), forms_(math_forms(target, options)) {}

  const math::MathForms& forms() const { return forms_; }
  /// Calls a function of f32, f64 or integers: `operands` are scalars, or vectors of one length. Lanes outside `mask`
  /// (null: all are active) never require the general body.
  /// `inlined`: marks the call to be inlined, with only the common path.
  llvm::Value* call(llvm::IRBuilder<>& b, PrimitiveId id, DType dtype, llvm::ArrayRef<llvm::Value*> operands,
                    llvm::Value* mask, bool inlined);
  /// nextafter of 16-bit floats, from their values in f32 and their bits; emitted at the insertion point.
  llvm::Value* nextafter_of_half(llvm::IRBuilder<>& b, ScalarOps& ops, DType half, llvm::ArrayRef<llvm::Value*> values,
                                 llvm::ArrayRef<llvm::Value*> bits);

  /// Replaces calls of sin and cos of one value in one block by one call such as `calque.sincos.f64x4`, which returns
  /// both.
  void pair_sines();

  /// Defines functions of few lanes by calls of those of the most lanes, where the module declares both: quick code
  /// then compiles each function once. Returns whether it defined any.
  bool call_widest();

  /// Defines a function that another module declares and is linked with.
  void define(const MathUse& use);

 private:
  struct Signature {
    PrimitiveId id;
    DType dtype;
    unsigned lanes;  ///< 0: a scalar
    unsigned operands;
    bool paired = false;  ///< sin and cos in one function
  };
  static Signature signature(llvm::StringRef name, unsigned operands);
  llvm::Function* function(const Signature& s, bool inlined);
  llvm::Function* general_function(const Signature& s);
  void append_common(const Signature& s, llvm::Function& f);
  llvm::Function* declare(const Signature& s, const std::string& text);
  bool process_evaluates(const Signature& s) const;
  llvm::Value* append(const Signature& s, llvm::Function& f) const;
  llvm::Value* call_general(llvm::IRBuilder<>& b, Signature s, llvm::Function& f);
  llvm::Value* call_process(llvm::IRBuilder<>& b, const Signature& s, llvm::Function& f);
  static std::string name(const Signature& s);
  llvm::CallInst* call_function(llvm::IRBuilder<>& b, const Signature& s, llvm::ArrayRef<llvm::Value*> arguments,
                                bool inlined);
  llvm::Value* call_one(llvm::IRBuilder<>& b, const Signature& s, llvm::ArrayRef<llvm::Value*> operands,
                        llvm::Value* mask, bool inlined);

  llvm::Module& module_;
  const TargetInfo& target_;
  const CodegenOptions& options_;
  math::MathForms forms_;
};

bool is_math_function(const llvm::Function& f);
/// Removes functions of lib/math without uses.
void remove_unused_math(llvm::Module& module);

}  // namespace calque::codegen
