// The library is column-major: it sees a row-major matrix as its transpose, so it computes out' = rhs' lhs'. Its
// workspace is shared by all calls of a device, since they run on one stream, and never moves, so that graphs may refer
// to it.
#include "runtime/cuda/cublaslt.h"

#include <dlfcn.h>

#include "ir/log.h"
#include "runtime/cuda/cublaslt_search.h"

namespace calque::runtime {

namespace cublas {

std::shared_ptr<const Library> open_library(const std::string& path, bool loaded, std::string& problem) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | (loaded ? RTLD_NOLOAD : 0));
  if (handle == nullptr) {
    const char* reason = loaded ? nullptr : dlerror();
    problem = path + " cannot be opened" + (reason != nullptr ? ": " + std::string(reason) : "");
    return nullptr;
  }
  auto library = std::make_shared<Library>();
#define CALQUE_X(member, symbol, parameters)                                        \
  library->member = reinterpret_cast<Status(*) parameters>(dlsym(handle, #symbol)); \
  if (library->member == nullptr) {                                                 \
    problem = path + " has no " #symbol;                                            \
    dlclose(handle);                                                                \
    return nullptr;                                                                 \
  }
  CALQUE_CUBLASLT_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
  library->version = reinterpret_cast<size_t (*)()>(dlsym(handle, "cublasLtGetVersion"));
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(library->create), &info) != 0 && info.dli_fname != nullptr;
  library->path = found ? info.dli_fname : path;
  return library;
}

}  // namespace cublas

namespace {

using cublas::kSuccess;
using kernel::LibraryProduct;

constexpr size_t kWorkspaceBytes = size_t{32} << 20;

int type_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return cublas::kF16;
    case DType::bf16:
      return cublas::kBf16;
    case DType::f64:
      return cublas::kF64;
    default:
      return cublas::kF32;
  }
}

std::string text_of(const LibraryProduct& p) {
  std::string text = std::string(name(p.factor)) + " " + std::to_string(p.rows) + " x " + std::to_string(p.columns) +
                     " over " + std::to_string(p.k);
  return p.batch == 1 ? text : std::to_string(p.batch) + " of " + text;
}

void* address_of(const LibraryProduct::Matrix& m, DType dtype, void* const* addresses) {
  return static_cast<std::byte*>(addresses[m.buffer]) + m.offset * static_cast<int64_t>(size_of(dtype));
}

}  // namespace

std::atomic<double>& least_library_flops() {
  static std::atomic<double> least{2.0 * 512 * 512 * 512};
  return least;
}

// ---- LibraryCall

LibraryCall::LibraryCall(std::shared_ptr<const cublas::Library> library, const LibraryProduct& product, bool tf32)
    : library_(std::move(library)), product_(product), tf32_(tf32) {}

LibraryCall::~LibraryCall() {
  if (operation_ != nullptr) library_->operation_destroy(operation_);
  for (const cublas::Layout layout : {first_, second_, result_})
    if (layout != nullptr) library_->layout_destroy(layout);
}

/// `rows` and `columns` are those of the product; the library takes them swapped.
cublas::Layout LibraryCall::layout(const LibraryProduct::Matrix& m, DType dtype, int64_t rows, int64_t columns) const {
  if (m.transposed) std::swap(rows, columns);
  cublas::Layout made = nullptr;
  if (library_->layout_create(&made, type_of(dtype), static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                              m.leading) != kSuccess)
    return nullptr;
  const auto batch = static_cast<int32_t>(product_.batch);
  if (batch > 1 &&
      (library_->layout_set(made, cublas::kBatchCount, &batch, sizeof batch) != kSuccess ||
       library_->layout_set(made, cublas::kBatchStride, &m.batch_stride, sizeof m.batch_stride) != kSuccess)) {
    library_->layout_destroy(made);
    return nullptr;
  }
  return made;
}

bool LibraryCall::describe() {
  const LibraryProduct& p = product_;
  if (p.batch > INT32_MAX) return false;
  const int compute = p.factor == DType::f64 ? cublas::kComputeF64 : tf32_ ? cublas::kComputeTf32 : cublas::kComputeF32;
  const int scale = p.factor == DType::f64 ? cublas::kF64 : cublas::kF32;
  if (library_->operation_create(&operation_, compute, scale) != kSuccess) return false;
  const int32_t transpose_first = p.rhs.transposed, transpose_second = p.lhs.transposed;
  if (library_->operation_set(operation_, cublas::kTransposeFirst, &transpose_first, sizeof transpose_first) !=
          kSuccess ||
      library_->operation_set(operation_, cublas::kTransposeSecond, &transpose_second, sizeof transpose_second) !=
          kSuccess)
    return false;
  first_ = layout(p.rhs, p.factor, p.k, p.columns);
  second_ = layout(p.lhs, p.factor, p.rows, p.k);
  result_ = layout(p.out, p.result, p.rows, p.columns);
  return first_ != nullptr && second_ != nullptr && result_ != nullptr;
}

bool LibraryCall::choose(cublas::Handle handle, size_t workspace_bytes) {
  if (!describe()) return false;
  cublas::Preference preference = nullptr;
  if (library_->preference_create(&preference) != kSuccess) return false;
  const auto set = [&](int attribute, auto value) {
    return library_->preference_set(preference, attribute, &value, sizeof value) == kSuccess;
  };
  const auto alignment = [](const LibraryProduct::Matrix& m) { return static_cast<uint32_t>(m.alignment); };
  cublas::Choice choice{};
  int count = 0;
  const bool chosen = set(cublas::kWorkspaceBytes, uint64_t{workspace_bytes}) &&
                      set(cublas::kReductionSchemes, cublas::kReduceInComputeType) &&
                      set(cublas::kAlignmentOfFirst, alignment(product_.rhs)) &&
                      set(cublas::kAlignmentOfSecond, alignment(product_.lhs)) &&
                      set(cublas::kAlignmentOfAddend, alignment(product_.out)) &&
                      set(cublas::kAlignmentOfResult, alignment(product_.out)) &&
                      library_->choose(handle, operation_, first_, second_, result_, result_, preference, 1, &choice,
                                       &count) == kSuccess &&
                      count > 0 && choice.status == kSuccess && choice.workspace_bytes <= workspace_bytes;
  library_->preference_destroy(preference);
  algorithm_ = choice.algorithm;
  return chosen;
}

cublas::Status LibraryCall::run(cublas::Handle handle, void* const* addresses, void* workspace, size_t workspace_bytes,
                                cuda::Stream stream) const {
  const double one64 = 1, zero64 = 0;
  const float one32 = 1, zero32 = 0;
  const bool wide = product_.factor == DType::f64;
  const void* const one = wide ? static_cast<const void*>(&one64) : &one32;
  const void* const zero = wide ? static_cast<const void*>(&zero64) : &zero32;
  void* const result = address_of(product_.out, product_.result, addresses);
  return library_->multiply(handle, operation_, one, address_of(product_.rhs, product_.factor, addresses), first_,
                            address_of(product_.lhs, product_.factor, addresses), second_, zero, result, result_,
                            result, result_, &algorithm_, workspace, workspace_bytes, stream);
}

// ---- ProductLibrary

ProductLibrary::~ProductLibrary() {
  if (captured_ == nullptr) return;
  const CudaContext::Idle idle(context_);
  if (!idle) return;
  const cuda::Driver& driver = context_.driver();
  if (handle_ != nullptr) library_->destroy(handle_);
  if (workspace_ != 0) driver.free(workspace_);
  driver.stream_destroy(captured_);
}

bool ProductLibrary::start(const cublas::Library& library) {
  if (library.create(&handle_) == kSuccess) return true;
  handle_ = nullptr;
  return false;
}

// NVIDIA's library needs NVIDIA's driver.
SearchList ProductLibrary::choices() const {
  const cuda::Driver& driver = context_.driver();
  SearchList choice = cublas::chosen_candidates(driver.version);
  if (!choice.named && driver.load_simulated != nullptr) choice.candidates.clear();
  return choice;
}

bool ProductLibrary::open() {
  if (tried_) return handle_ != nullptr;
  tried_ = true;
  const cuda::Driver& driver = context_.driver();
  const SearchList choice = choices();
  if (choice.candidates.empty()) return false;
  if (driver.stream_create(&captured_, cuda::kStreamNonBlocking) != cuda::kSuccess) {
    captured_ = nullptr;
    return false;
  }
  library_ = cublas::first_that_starts(choice, [&](const cublas::Library& library) { return start(library); });
  if (library_ == nullptr) {
    library_log().info("{}: no cuBLASLt: products of matrices are computed without it", context_.name());
    return false;
  }
  library_log().info("{}: large products of matrices are computed by cuBLASLt {}", context_.name(),
                     cublas::description(*library_));
  return true;
}

bool ProductLibrary::is_found() {
  std::lock_guard lock(mutex_);
  const auto any = [](const cublas::Library&) { return true; };
  if (!found_) found_ = cublas::first_that_starts(choices(), any) != nullptr;
  return *found_;
}

bool ProductLibrary::has_workspace() {
  if (workspace_ != 0) return true;
  if (context_.driver().allocate(&workspace_, kWorkspaceBytes) == cuda::kSuccess) return true;
  workspace_ = 0;
  return false;
}

void ProductLibrary::trim() {
  std::lock_guard lock(mutex_);
  std::erase_if(calls_, [](const auto& entry) { return entry.second.expired(); });
  if (!calls_.empty() || workspace_ == 0) return;
  const CudaContext::Current current(context_);
  context_.check(context_.driver().free(workspace_), "the workspace of products cannot be given back");
  workspace_ = 0;
}

std::shared_ptr<const LibraryCall> ProductLibrary::call_for(const LibraryProduct& product, bool tf32) {
  std::lock_guard lock(mutex_);
  std::erase_if(calls_, [](const auto& entry) { return entry.second.expired(); });
  const auto key = std::pair(product, tf32);
  if (const auto found = calls_.find(key); found != calls_.end()) {
    if (auto call = found->second.lock()) return call;
  }
  const CudaContext::Current current(context_);
  if (!open() || !has_workspace()) return nullptr;
  auto call = std::make_shared<LibraryCall>(library_, product, tf32);
  if (!call->choose(handle_, kWorkspaceBytes)) {
    library_log().info("cuBLASLt has no algorithm for {}", text_of(product));
    return nullptr;
  }
  calls_[key] = call;
  return call;
}

std::vector<std::shared_ptr<const LibraryCall>> ProductLibrary::calls_for(const kernel::Program& program,
                                                                          const codegen::DeviceOptions& options) {
  std::vector<std::shared_ptr<const LibraryCall>> calls(program.kernels.size());
  if (options.strict) return calls;
  for (size_t k = 0; k < calls.size(); ++k) {
    const auto product = kernel::library_product_of(program.kernels[k]);
    if (!product || product->flops() < least_library_flops().load(std::memory_order_relaxed)) continue;
    calls[k] = call_for(*product, options.fast_math && product->factor == DType::f32);
  }
  return calls;
}

bool ProductLibrary::run(const LibraryCall& call, void* const* addresses, cuda::Stream stream) const {
  if (call.refused().load(std::memory_order_relaxed)) return false;
  void* const workspace = reinterpret_cast<void*>(static_cast<uintptr_t>(workspace_));
  const cublas::Status status = call.run(handle_, addresses, workspace, kWorkspaceBytes, stream);
  if (status == kSuccess) return true;
  if (!call.refused().exchange(true))
    library_log().warn("cuBLASLt refuses {} with status {}: it is computed without it", text_of(call.product()),
                       status);
  return false;
}

bool ProductLibrary::launch(const LibraryCall& call, void* const* addresses) const {
  return run(call, addresses, context_.stream());
}

cuda::Graph ProductLibrary::capture(const LibraryCall& call, void* const* addresses) {
  std::lock_guard lock(mutex_);
  const cuda::Driver& driver = context_.driver();
  if (driver.capture_begin(captured_, cuda::kCaptureRelaxed) != cuda::kSuccess) return nullptr;
  const bool asked = run(call, addresses, captured_);
  cuda::Graph graph = nullptr;
  const bool ended = driver.capture_end(captured_, &graph) == cuda::kSuccess;
  if (asked && ended) return graph;
  if (graph != nullptr) driver.graph_destroy(graph);
  return nullptr;
}

}  // namespace calque::runtime
