#pragma once
// What the emitter must know of a target. No LLVM name appears here.
#include <string>
#include <vector>

#include "codegen/codegen.h"

namespace calque::codegen {

struct TargetInfo {
  std::string triple, cpu, features;
  /// LLVM's names of the extensions that ordinary code for the CPU may use, sorted.
  std::vector<std::string> instruction_sets;
  /// Width of the vectors that the emitter makes.
  int vector_bits = 128;
  bool x86 = false;
  bool avx2 = false;
  /// AVX-512 F, BW, DQ and VL: lane masks are registers of their own and every load and store can take one.
  bool avx512 = false;
  /// Conversion between f16 and f32 in hardware, to nearest even.
  bool half_conversion = false;
  bool fma = false;
  /// Sums of two products of bf16 in f32, in one instruction.
  bool bf16_pairs = false;

  /// Masked vector loads and stores of elements of that many bytes are single instructions.
  bool masked_memory(int element_bytes) const { return avx512 || (avx2 && element_bytes >= 4); }
  bool gathers(int element_bytes) const { return avx2 && element_bytes >= 4; }
  bool scatters(int element_bytes) const { return avx512 && element_bytes >= 4; }
};

/// The target that the options name: its CPU is the options', else, for the host's triple, $CALQUE_CPU, else the
/// host's. Throws CompileError for names that LLVM does not know, and for CPUs that cannot run the triple's code.
TargetInfo resolve_target(const TargetOptions& options);

}  // namespace calque::codegen
