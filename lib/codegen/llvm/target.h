#pragma once
// The facts about a target that the emitter needs. Independent of LLVM.
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "kernel/schedule_cpu/target_limits.h"

namespace calque::codegen {

struct TargetName {
  std::string triple, cpu, features;
};

struct TargetInfo : TargetName {
  /// LLVM's names of the extensions that ordinary code for the CPU may use, sorted.
  std::vector<std::string> instruction_sets;
  /// Width of the vectors that the emitter uses.
  int vector_bits = 128;
  bool x86 = false;
  bool avx2 = false;
  /// AVX-512 F, BW, DQ and VL: there are mask registers, and every load and store can take one.
  bool avx512 = false;
  /// Conversion between f16 and f32 in hardware, to nearest even.
  bool half_conversion = false;
  bool fma = false;
  /// Sums of two products of bf16 in f32, in one instruction.
  bool bf16_pairs = false;

  /// Masked vector loads and stores of elements of this many bytes are single instructions.
  bool masked_memory(int element_bytes) const { return avx512 || (avx2 && element_bytes >= 4); }
  bool gathers(int element_bytes) const { return avx2 && element_bytes >= 4; }
  bool scatters(int element_bytes) const { return avx512 && element_bytes >= 4; }
};

/// The names of the target of the options, unchecked; initializes no back end.
TargetName name_target(const TargetOptions& options);
/// The target of the options. The CPU is that of the options, else, for the host's triple, $CALQUE_CPU, else the
/// host's. Throws CompileError for names that LLVM does not know, and for CPUs that cannot run code of the triple.
TargetInfo resolve_target(const TargetOptions& options);

/// What schedules know of the target. `strict`: CodegenOptions::strict.
kernel::TargetLimits limits_of(const TargetInfo& target, bool strict);

}  // namespace calque::codegen
