#pragma once
// cuBLASLt, loaded at run time where it is installed, for matrix products that it computes faster than generated
// kernels. It is optional: products that it refuses are computed by generated kernels. Names, numbers and layouts are
// those of its interface, declared as far as they are used (the same in versions 11 to 13).
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "codegen/gpu/device_code.h"
#include "kernel/schedule_gpu/library_product.h"
#include "runtime/cuda/cublaslt_search.h"
#include "runtime/cuda/cuda_context.h"

namespace calque::runtime {

namespace cublas {

using Status = int;
inline constexpr Status kSuccess = 0;
using Handle = struct HandleObject*;
using Operation = struct OperationObject*;
using Layout = struct LayoutObject*;
using Preference = struct PreferenceObject*;
enum DataType : int { kF32 = 0, kF64 = 1, kF16 = 2, kBf16 = 14 };
/// All but kComputeTf32 keep every bit of their factors.
enum ComputeType : int { kComputeF32 = 68, kComputeF64 = 70, kComputeTf32 = 77 };
enum OperationAttribute : int { kTransposeFirst = 3, kTransposeSecond = 4 };
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute : int {
  kWorkspaceBytes = 1,
  kReductionSchemes = 3,
  kAlignmentOfFirst = 5,
  kAlignmentOfSecond = 6,
  kAlignmentOfAddend = 7,
  kAlignmentOfResult = 8,
};
/// Split-K partials are added in the compute type, one after the other.
inline constexpr uint32_t kReduceInComputeType = 2;

struct Algorithm {
  uint64_t words[8];
};
struct Choice {
  Algorithm algorithm;
  size_t workspace_bytes;
  Status status;
  float waves;
  int reserved[4];
};

// name of the member, name in the library, parameters
#define CALQUE_CUBLASLT_FUNCTIONS(X)                                                                               \
  X(create, cublasLtCreate, (Handle * handle))                                                                     \
  X(destroy, cublasLtDestroy, (Handle handle))                                                                     \
  X(operation_create, cublasLtMatmulDescCreate, (Operation * operation, int compute_type, int scale_type))         \
  X(operation_destroy, cublasLtMatmulDescDestroy, (Operation operation))                                           \
  X(operation_set, cublasLtMatmulDescSetAttribute,                                                                 \
    (Operation operation, int attribute, const void* value, size_t bytes))                                         \
  X(layout_create, cublasLtMatrixLayoutCreate,                                                                     \
    (Layout * layout, int type, uint64_t rows, uint64_t columns, int64_t leading))                                 \
  X(layout_destroy, cublasLtMatrixLayoutDestroy, (Layout layout))                                                  \
  X(layout_set, cublasLtMatrixLayoutSetAttribute, (Layout layout, int attribute, const void* value, size_t bytes)) \
  X(preference_create, cublasLtMatmulPreferenceCreate, (Preference * preference))                                  \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy, (Preference preference))                                  \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute,                                                          \
    (Preference preference, int attribute, const void* value, size_t bytes))                                       \
  X(choose, cublasLtMatmulAlgoGetHeuristic,                                                                        \
    (Handle handle, Operation operation, Layout first, Layout second, Layout addend, Layout result,                \
     Preference preference, int most, Choice* choices, int* count))                                                \
  X(multiply, cublasLtMatmul,                                                                                      \
    (Handle handle, Operation operation, const void* alpha, const void* first, Layout first_layout,                \
     const void* second, Layout second_layout, const void* beta, const void* addend, Layout addend_layout,         \
     void* result, Layout result_layout, const Algorithm* algorithm, void* workspace, size_t workspace_bytes,      \
     cuda::Stream stream))

/// The opened library. It stays open as long as the process runs.
struct Library {
#define CALQUE_X(member, symbol, parameters) Status(*member) parameters = nullptr;
  CALQUE_CUBLASLT_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
  size_t (*version)() = nullptr;  ///< 120103
  std::string path;               ///< of the loaded file
};

/// Null, with the reason in `problem`, if the library cannot be opened or lacks a function. `loaded`: only if the
/// process has loaded it already.
std::shared_ptr<const Library> open_library(const std::string& path, bool loaded, std::string& problem);

}  // namespace cublas

/// One product, prepared for the library.
class LibraryCall {
 public:
  LibraryCall(std::shared_ptr<const cublas::Library> library, const kernel::LibraryProduct& product, bool tf32);
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
  ~LibraryCall();

  /// Queries the algorithm. False if there is none.
  bool choose(cublas::Handle handle, size_t workspace_bytes);
  cublas::Status run(cublas::Handle handle, void* const* addresses, void* workspace, size_t workspace_bytes,
                     cuda::Stream stream) const;
  const kernel::LibraryProduct& product() const { return product_; }
  /// It failed once and is not tried again.
  std::atomic<bool>& refused() const { return refused_; }

 private:
  bool describe();
  cublas::Layout layout(const kernel::LibraryProduct::Matrix& matrix, DType dtype, int64_t rows, int64_t columns) const;

  const std::shared_ptr<const cublas::Library> library_;
  const kernel::LibraryProduct product_;
  const bool tf32_;
  cublas::Operation operation_ = nullptr;
  cublas::Layout first_ = nullptr, second_ = nullptr, result_ = nullptr;
  cublas::Algorithm algorithm_{};
  mutable std::atomic<bool> refused_{false};
};

/// The products of a device that the library computes. Opens it for the first of them.
class ProductLibrary {
 public:
  explicit ProductLibrary(CudaContext& context) : context_(context) {}
  ProductLibrary(const ProductLibrary&) = delete;
  ProductLibrary& operator=(const ProductLibrary&) = delete;
  ~ProductLibrary();

  /// By kernel of the program: null where the generated kernel is used.
  std::vector<std::shared_ptr<const LibraryCall>> calls_for(const kernel::Program& program,
                                                            const codegen::DeviceOptions& options);
  /// Whether some library can be opened. It is not started, which would need the device's context.
  bool is_found();
  /// Submits it to the device's stream; the context is current. False, with a line in the log, if it is refused.
  bool launch(const LibraryCall& call, void* const* addresses) const;
  /// The same as a separate graph; null if it is refused.
  cuda::Graph capture(const LibraryCall& call, void* const* addresses);
  /// Frees the workspace if no program has a call. The device must be idle.
  void trim();

 private:
  SearchList choices() const;
  bool open();
  bool start(const cublas::Library& library);
  bool has_workspace();
  std::shared_ptr<const LibraryCall> call_for(const kernel::LibraryProduct& product, bool tf32);
  bool run(const LibraryCall& call, void* const* addresses, cuda::Stream stream) const;

  CudaContext& context_;
  std::mutex mutex_;
  bool tried_ = false;
  std::optional<bool> found_;
  std::shared_ptr<const cublas::Library> library_;
  cublas::Handle handle_ = nullptr;
  cuda::Address workspace_ = 0;
  cuda::Stream captured_ = nullptr;  ///< for capturing calls; no work runs on it
  std::map<std::pair<kernel::LibraryProduct, bool>, std::weak_ptr<const LibraryCall>> calls_;
};

/// Products of fewer operations are computed by generated kernels. Tests change it.
std::atomic<double>& least_library_flops();

}  // namespace calque::runtime
