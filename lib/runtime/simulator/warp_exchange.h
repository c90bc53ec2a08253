#pragma once
// Operations of all 32 threads of a warp, as the PTX ISA defines them.
#include <array>
#include <cstddef>
#include <cstdint>

namespace calque::runtime {

inline constexpr int kWarp = 32;

/// The fragments of one lane of mma.sync: see SimulatorTable::mma.
struct MatrixFragments {
  const uint32_t* a = nullptr;
  const uint32_t* b = nullptr;
  float* c = nullptr;
};

/// d = a * b + c with 16 x 8 accumulators. Products are exact; each accumulator starts at c, adds the products in the
/// order of k and is rounded to f32 after each (a GPU adds several at once and truncates, so the last bits may differ).
/// The inputs of tf32 lose the low 13 bits of their significand, as hardware ignores them.
void multiply_matrices(int32_t shape, const std::array<MatrixFragments, kWarp>& lanes);

/// ldmatrix.x4: rows[l] is row l % 8 of matrix l / 8, of 8 halves. For every matrix, lane l gets the elements (l / 4,
/// 2 * (l % 4)) and the next one; if transposed, those of the transposed matrix.
void load_matrices(bool transposed, const std::array<const std::byte*, kWarp>& rows,
                   const std::array<uint32_t*, kWarp>& outs);

}  // namespace calque::runtime
