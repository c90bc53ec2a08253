#pragma once
// The LLVM values that hold a kernel's values.
#include "codegen/llvm/llvm.h"

namespace calque::codegen {

/// A kernel value in registers.
struct Reg {
  enum class Form : uint8_t { none, uniform, varying, linear };
  llvm::Value* v = nullptr;
  Form form = Form::none;
  bool wide = false;                     ///< a 16-bit float held as f32
  bool representable_in_16_bits = true;  ///< the f32 of a wide value is representable in the 16-bit dtype
  int64_t stride = 0;                    ///< linear: the step from lane to lane
  bool uniform() const { return form == Form::uniform; }
};

/// Elements of the longest rows that interleaved accesses read or write whole, whatever columns there are. Of longer
/// ones they read whole vectors of columns, such as those of small matrices; beyond kFarthestRow each lane has a page
/// of its own.
inline constexpr int64_t kLongestRow = 256, kFarthestRow = 4096;

using Values = llvm::SmallVector<llvm::Value*, 8>;

}  // namespace calque::codegen
