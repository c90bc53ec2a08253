// Compares our declarations of cuBLASLt's interface with NVIDIA's, if their header is installed.
#include <gtest/gtest.h>

#include "runtime/cuda/cublaslt.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

namespace calque::runtime::cublas {
namespace {

#if __has_include(<cublasLt.h>)

TEST(CublasLayouts, AreTheLibrarys) {
  EXPECT_EQ(sizeof(Algorithm), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(Choice), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(Choice, algorithm), offsetof(cublasLtMatmulHeuristicResult_t, algo));
  EXPECT_EQ(offsetof(Choice, workspace_bytes), offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(Choice, status), offsetof(cublasLtMatmulHeuristicResult_t, state));
}

TEST(CublasLayouts, NumbersAreTheLibrarys) {
  const auto number = [](auto value) { return static_cast<long>(value); };
  EXPECT_EQ(number(kSuccess), number(CUBLAS_STATUS_SUCCESS));
  EXPECT_EQ(number(kF16), number(CUDA_R_16F));
  EXPECT_EQ(number(kBf16), number(CUDA_R_16BF));
  EXPECT_EQ(number(kF32), number(CUDA_R_32F));
  EXPECT_EQ(number(kF64), number(CUDA_R_64F));
  EXPECT_EQ(number(kComputeF32), number(CUBLAS_COMPUTE_32F));
  EXPECT_EQ(number(kComputeF64), number(CUBLAS_COMPUTE_64F));
  EXPECT_EQ(number(kComputeTf32), number(CUBLAS_COMPUTE_32F_FAST_TF32));
  EXPECT_EQ(number(kTransposeFirst), number(CUBLASLT_MATMUL_DESC_TRANSA));
  EXPECT_EQ(number(kTransposeSecond), number(CUBLASLT_MATMUL_DESC_TRANSB));
  EXPECT_EQ(0, number(CUBLAS_OP_N));
  EXPECT_EQ(1, number(CUBLAS_OP_T));
  EXPECT_EQ(number(kBatchCount), number(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
  EXPECT_EQ(number(kBatchStride), number(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
  EXPECT_EQ(number(kWorkspaceBytes), number(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
  EXPECT_EQ(number(kReductionSchemes), number(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK));
  EXPECT_EQ(number(kReduceInComputeType), number(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  EXPECT_EQ(number(kAlignmentOfFirst), number(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
  EXPECT_EQ(number(kAlignmentOfSecond), number(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES));
  EXPECT_EQ(number(kAlignmentOfAddend), number(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES));
  EXPECT_EQ(number(kAlignmentOfResult), number(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
}

#else

TEST(CublasLayouts, AreTheLibrarys) {
  GTEST_SKIP() << "the compiler found no cublasLt.h (of NVIDIA's CUDA toolkit) to compare the declarations with";
}

#endif

}  // namespace
}  // namespace calque::runtime::cublas
