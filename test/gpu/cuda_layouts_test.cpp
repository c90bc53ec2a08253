// Compares our declarations of the driver's interface with NVIDIA's, if their header is installed.
#include <gtest/gtest.h>

#include "runtime/cuda/cuda_driver.h"

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

namespace calque::runtime::cuda {
namespace {

#if __has_include(<cuda.h>)

TEST(CudaLayouts, AreTheDrivers) {
  using Kernel = CUDA_KERNEL_NODE_PARAMS_v1;
  EXPECT_EQ(sizeof(KernelNode), sizeof(Kernel));
  EXPECT_EQ(offsetof(KernelNode, shared_bytes), offsetof(Kernel, sharedMemBytes));
  EXPECT_EQ(offsetof(KernelNode, parameters), offsetof(Kernel, kernelParams));
  EXPECT_EQ(sizeof(StoreNode), sizeof(CUDA_MEMSET_NODE_PARAMS));
  EXPECT_EQ(offsetof(StoreNode, value), offsetof(CUDA_MEMSET_NODE_PARAMS, value));
  EXPECT_EQ(offsetof(StoreNode, width), offsetof(CUDA_MEMSET_NODE_PARAMS, width));
  EXPECT_EQ(sizeof(CopyNode), sizeof(CUDA_MEMCPY3D));
  EXPECT_EQ(offsetof(CopyNode::Side, memory_type), offsetof(CUDA_MEMCPY3D, srcMemoryType));
  EXPECT_EQ(offsetof(CopyNode::Side, device), offsetof(CUDA_MEMCPY3D, srcDevice));
  EXPECT_EQ(offsetof(CopyNode::Side, pitch), offsetof(CUDA_MEMCPY3D, srcPitch));
  EXPECT_EQ(offsetof(CopyNode, to), offsetof(CUDA_MEMCPY3D, dstXInBytes));
  EXPECT_EQ(offsetof(CopyNode, width), offsetof(CUDA_MEMCPY3D, WidthInBytes));
}

TEST(CudaLayouts, NumbersAreTheDrivers) {
  const auto number = [](auto value) { return static_cast<long>(value); };
  EXPECT_EQ(number(kMultiprocessors), number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_EQ(number(kComputeCapabilityMajor), number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(number(kComputeCapabilityMinor), number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(number(kSharedMemoryOfBlock), number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  EXPECT_EQ(number(kMaxDynamicSharedMemory), number(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(number(kErrorLogBuffer), number(CU_JIT_ERROR_LOG_BUFFER));
  EXPECT_EQ(number(kErrorLogBytes), number(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
  EXPECT_EQ(number(kPtxInput), number(CU_JIT_INPUT_PTX));
  EXPECT_EQ(number(kStreamNonBlocking), number(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(number(kEventDisableTiming), number(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(number(kCaptureRelaxed), number(CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(number(kUsesHostPageTables), number(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES));
  EXPECT_EQ(number(kMemoryType), number(CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
  EXPECT_EQ(number(kInvalidValue), number(CUDA_ERROR_INVALID_VALUE));
  EXPECT_EQ(number(kOutOfMemory), number(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_EQ(number(kDeinitialized), number(CUDA_ERROR_DEINITIALIZED));
  EXPECT_EQ(number(kDeviceUnavailable), number(CUDA_ERROR_DEVICE_UNAVAILABLE));
  EXPECT_EQ(number(kUnsupportedPtx), number(CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
  EXPECT_EQ(number(kIllegalAddress), number(CUDA_ERROR_ILLEGAL_ADDRESS));
  EXPECT_EQ(number(kLaunchFailed), number(CUDA_ERROR_LAUNCH_FAILED));
  EXPECT_EQ(number(CopyNode().from.memory_type), number(CU_MEMORYTYPE_DEVICE));
}

TEST(CudaLayouts, FailuresThatLastAreThoseTheHeaderSaysSoOf) {
  for (const CUresult status :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING,
        CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ASSERT, CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_INVALID_ADDRESS_SPACE,
        CUDA_ERROR_INVALID_PC, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE,
        CUDA_ERROR_EXTERNAL_DEVICE, CUDA_ERROR_MPS_CLIENT_TERMINATED, CUDA_ERROR_DEINITIALIZED})
    EXPECT_TRUE(loses_context(status)) << status;
  for (const CUresult status :
       {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_READY,
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CUDA_ERROR_INVALID_PTX,
        CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CUDA_ERROR_UNKNOWN})
    EXPECT_FALSE(loses_context(status)) << status;
}

#else

TEST(CudaLayouts, AreTheDrivers) {
  GTEST_SKIP() << "the compiler found no cuda.h (of NVIDIA's CUDA toolkit) to compare the declarations with";
}

#endif

}  // namespace
}  // namespace calque::runtime::cuda
