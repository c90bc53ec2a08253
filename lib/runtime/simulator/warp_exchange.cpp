// Layouts of fragments: PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type" and "for mma.m16n8k8",
// where lane = 4 * groupID + threadID_in_group.
#include "runtime/simulator/warp_exchange.h"

#include <bit>
#include <cstring>

#include <Eigen/Core>

namespace calque::runtime {

namespace {

constexpr int kRows = 16, kColumns = 8;

struct Factors {
  double a[kRows][16];
  double b[16][kColumns];
};

double half_of(int32_t shape, uint32_t word, int which) {
  const auto bits = static_cast<uint16_t>(word >> (16 * which));
  if (shape == 1) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  return static_cast<float>(Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits)));
}

double tf32_of(uint32_t word) { return std::bit_cast<float>(word & 0xffffe000U); }

// Word r of a holds row group + 8 * (r % 2) and columns 2 * thread + 8 * (r / 2) and the next; word r of b rows
// 2 * thread + 8 * r and the next of column group.
void gather_halves(int32_t shape, const std::array<MatrixFragments, kWarp>& lanes, Factors& f) {
  for (int lane = 0; lane < kWarp; ++lane) {
    const int group = lane / 4, thread = lane % 4;
    const MatrixFragments& own = lanes[static_cast<size_t>(lane)];
    for (int h = 0; h < 2; ++h) {
      for (int r = 0; r < 4; ++r) f.a[group + 8 * (r % 2)][2 * thread + 8 * (r / 2) + h] = half_of(shape, own.a[r], h);
      for (int r = 0; r < 2; ++r) f.b[2 * thread + 8 * r + h][group] = half_of(shape, own.b[r], h);
    }
  }
}

void gather_tf32(const std::array<MatrixFragments, kWarp>& lanes, Factors& f) {
  for (int lane = 0; lane < kWarp; ++lane) {
    const int group = lane / 4, thread = lane % 4;
    const MatrixFragments& own = lanes[static_cast<size_t>(lane)];
    for (int r = 0; r < 4; ++r) f.a[group + 8 * (r % 2)][thread + 4 * (r / 2)] = tf32_of(own.a[r]);
    for (int r = 0; r < 2; ++r) f.b[thread + 4 * r][group] = tf32_of(own.b[r]);
  }
}

}  // namespace

void multiply_matrices(int32_t shape, const std::array<MatrixFragments, kWarp>& lanes) {
  Factors f;
  const int count = shape == 2 ? 8 : 16;
  shape == 2 ? gather_tf32(lanes, f) : gather_halves(shape, lanes, f);
  for (int lane = 0; lane < kWarp; ++lane) {
    float* const c = lanes[static_cast<size_t>(lane)].c;
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      for (int k = 0; k < count; ++k) c[i] = static_cast<float>(c[i] + f.a[row][k] * f.b[k][column]);
    }
  }
}

void load_matrices(bool transposed, const std::array<const std::byte*, kWarp>& rows,
                   const std::array<uint32_t*, kWarp>& outs) {
  for (size_t lane = 0; lane < kWarp; ++lane)
    for (size_t matrix = 0; matrix < 4; ++matrix) {
      uint16_t pair[2];
      for (size_t h = 0; h < 2; ++h) {
        const size_t first = lane / 4, second = 2 * (lane % 4) + h;
        const size_t row = transposed ? second : first, column = transposed ? first : second;
        std::memcpy(&pair[h], rows[8 * matrix + row] + 2 * column, 2);
      }
      outs[lane][matrix] = static_cast<uint32_t>(pair[0]) | static_cast<uint32_t>(pair[1]) << 16;
    }
}

}  // namespace calque::runtime
