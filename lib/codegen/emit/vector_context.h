#pragma once
// The vectors in which code is emitted.
#include "codegen/llvm/llvm.h"

namespace calque::codegen {

/// Changed by scopes alone.
class VectorContext {
 public:
  unsigned lanes() const { return lanes_; }    ///< 0 outside vectorised loops
  llvm::Value* mask() const { return mask_; }  ///< active lanes; null: all

 private:
  friend class VectorScope;
  unsigned lanes_ = 0;
  llvm::Value* mask_ = nullptr;
};

/// While it lives, code is emitted in vectors of so many lanes (0: as scalars), of which those of the mask are active.
class VectorScope {
 public:
  VectorScope(VectorContext& vectors, unsigned lanes, llvm::Value* mask = nullptr)
      : vectors_(vectors), outer_(vectors) {
    vectors.lanes_ = lanes;
    vectors.mask_ = mask;
  }
  ~VectorScope() { vectors_ = outer_; }
  VectorScope(const VectorScope&) = delete;
  VectorScope& operator=(const VectorScope&) = delete;

 private:
  VectorContext& vectors_;
  const VectorContext outer_;
};

/// While it lives, the lanes of this mask are active.
class MaskScope : public VectorScope {
 public:
  MaskScope(VectorContext& vectors, llvm::Value* mask) : VectorScope(vectors, vectors.lanes(), mask) {}
};

}  // namespace calque::codegen
