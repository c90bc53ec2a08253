// The entry points of cuBLASLt that Calque uses: products by plain loops, in stream order. Descriptors are checked when
// they are used; an algorithm is valid only for the product that it was chosen for.
#include "runtime/cuda/cublaslt.h"

#include <bit>
#include <cstring>

#include "calque/ir/dtype.h"

#include "state.h"

using namespace stand_in;  // NOLINT: everything here is the stand-in's
namespace cuda = calque::runtime::cuda;
namespace cublas = calque::runtime::cublas;

namespace {

constexpr Status kRefused = 15, kWrong = 7;

struct Library {
  int unused = 0;
};
struct Operation {
  int compute = -1, scale = -1;
  bool transpose_first = false, transpose_second = false;
};
struct Layout {
  int type = -1;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  int batch = 1;
  int64_t batch_stride = 0;
  size_t bytes() const {
    const auto all =
        static_cast<int64_t>(columns - 1) * leading + static_cast<int64_t>(rows) + (batch - 1) * batch_stride;
    return static_cast<size_t>(all) * (type == cublas::kF64 ? 8 : type == cublas::kF32 ? 4 : 2);
  }
};
struct Preference {
  uint64_t workspace_bytes = 0;
  uint32_t schemes = 7;
  std::map<int, uint32_t> alignments;
};

Handles<Library>& libraries() {
  static auto& all = *new Handles<Library>;
  return all;
}
Handles<Operation>& operations() {
  static auto& all = *new Handles<Operation>;
  return all;
}
Handles<Layout>& layouts() {
  static auto& all = *new Handles<Layout>;
  return all;
}
Handles<Preference>& preferences() {
  static auto& all = *new Handles<Preference>;
  return all;
}

/// A column-major matrix.
struct Matrix {
  const Layout layout;
  std::byte* const memory;
  std::byte* at(int64_t b, int64_t row, int64_t column, size_t bytes) const {
    return memory + (b * layout.batch_stride + column * layout.leading + row) * static_cast<int64_t>(bytes);
  }
  double load(int64_t b, int64_t row, int64_t column) const {
    const auto as = [&]<class T>(T value) {
      std::memcpy(&value, at(b, row, column, sizeof(T)), sizeof(T));
      return static_cast<double>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(value));
    };
    switch (layout.type) {
      case cublas::kF64:
        return as(double{});
      case cublas::kF32:
        return as(float{});
      case cublas::kF16:
        return as(calque::float16{});
      default:
        return as(calque::bfloat16{});
    }
  }
  void store(int64_t b, int64_t row, int64_t column, double sum) const {
    const auto as = [&]<class T>(T value) { std::memcpy(at(b, row, column, sizeof(T)), &value, sizeof(T)); };
    switch (layout.type) {
      case cublas::kF64:
        return as(sum);
      case cublas::kF32:
        return as(static_cast<float>(sum));
      case cublas::kF16:
        return as(calque::float16(static_cast<float>(sum)));
      default:
        return as(calque::bfloat16(static_cast<float>(sum)));
    }
  }
};

/// An f32 truncated to tf32, as tensor cores do.
double tf32(double value) {
  return static_cast<double>(std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(value)) & 0xffffe000u));
}

void multiply(const Operation& o, const Matrix& first, const Matrix& second, const Matrix& result) {
  const auto k_count = static_cast<int64_t>(o.transpose_first ? first.layout.rows : first.layout.columns);
  const auto load = [&](const Matrix& m, bool transpose, int64_t b, int64_t row, int64_t column) {
    const double value = transpose ? m.load(b, column, row) : m.load(b, row, column);
    return o.compute == cublas::kComputeTf32 ? tf32(value) : value;
  };
  for (int64_t b = 0; b < result.layout.batch; ++b)
    for (int64_t j = 0; j < static_cast<int64_t>(result.layout.columns); ++j)
      for (int64_t i = 0; i < static_cast<int64_t>(result.layout.rows); ++i) {
        double sum = 0;
        for (int64_t k = 0; k < k_count; ++k)
          sum += load(first, o.transpose_first, b, i, k) * load(second, o.transpose_second, b, k, j);
        result.store(b, i, j, sum);
      }
}

bool is_float(int type) {
  return type == cublas::kF32 || type == cublas::kF64 || type == cublas::kF16 || type == cublas::kBf16;
}

/// Empty if the library supports the product.
std::string mistake(const Operation& o, const Layout& first, const Layout& second, const Layout& result) {
  for (const Layout* l : {&first, &second, &result}) {
    if (!is_float(l->type) || l->leading < static_cast<int64_t>(l->rows)) return "a layout that is none";
    if (l->batch != result.batch) return "matrices of different batches";
  }
  const bool wide = first.type == cublas::kF64;
  if (o.scale != (wide ? cublas::kF64 : cublas::kF32) || (o.compute == cublas::kComputeF64) != wide ||
      (o.compute == cublas::kComputeTf32 && first.type != cublas::kF32))
    return "sums of a type that does not suit";
  if (first.type != second.type || (result.type != first.type && (wide || result.type != cublas::kF32)))
    return "dtypes that do not go together";
  if ((o.transpose_first ? first.columns : first.rows) != result.rows ||
      (o.transpose_second ? second.rows : second.columns) != result.columns ||
      (o.transpose_first ? first.rows : first.columns) != (o.transpose_second ? second.columns : second.rows))
    return "extents that do not go together";
  return {};
}

/// A hash of the product that an algorithm is for.
uint64_t mark_of(const Operation& o, const Layout& first, const Layout& second, const Layout& result) {
  uint64_t mark = static_cast<uint64_t>(o.compute * 4 + o.transpose_first * 2 + o.transpose_second) + 1;
  for (const Layout* l : {&first, &second, &result})
    for (const uint64_t word : {static_cast<uint64_t>(l->type), l->rows, l->columns, static_cast<uint64_t>(l->leading),
                                static_cast<uint64_t>(l->batch), static_cast<uint64_t>(l->batch_stride)})
      mark = (mark ^ word) * 0x9e3779b97f4a7c15u;
  return mark;
}

template <class Value>
bool read(Value& to, const void* from, size_t bytes) {
  if (from == nullptr || bytes != sizeof to) return false;
  std::memcpy(&to, from, bytes);
  return true;
}

constexpr size_t kWorkspaceBytes = size_t{1} << 20;

}  // namespace

size_t stand_in::live_library_objects() {
  return libraries().size() + operations().size() + layouts().size() + preferences().size();
}

#define ENTER(needs_context)     \
  State& s = state();            \
  std::lock_guard lock(s.mutex); \
  if (const Status failure = s.enter(__func__, needs_context); failure != kSuccess) return failure

extern "C" {

size_t cublasLtGetVersion() { return 130000; }
Status cublasLtCreate(cublas::Handle* handle) {
  ENTER(true);
  *handle = libraries().make<cublas::Handle>({});
  return kSuccess;
}
Status cublasLtDestroy(cublas::Handle handle) {
  ENTER(true);
  return libraries().destroy(handle) ? kSuccess : s.misuse("no library is destroyed");
}
Status cublasLtMatmulDescCreate(cublas::Operation* operation, int compute, int scale) {
  ENTER(false);
  *operation = operations().make<cublas::Operation>({compute, scale});
  return kSuccess;
}
Status cublasLtMatmulDescDestroy(cublas::Operation operation) {
  ENTER(false);
  return operations().destroy(operation) ? kSuccess : s.misuse("no operation is destroyed");
}
Status cublasLtMatmulDescSetAttribute(cublas::Operation operation, int attribute, const void* value, size_t bytes) {
  ENTER(false);
  Operation* o = operations().find(operation);
  int32_t transpose = 0;
  if (o == nullptr || !read(transpose, value, bytes) || transpose < 0 || transpose > 1)
    return s.misuse("an attribute of an operation");
  if (attribute == cublas::kTransposeFirst)
    o->transpose_first = transpose == 1;
  else if (attribute == cublas::kTransposeSecond)
    o->transpose_second = transpose == 1;
  else
    return s.misuse("an attribute that operations do not have");
  return kSuccess;
}
Status cublasLtMatrixLayoutCreate(cublas::Layout* layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  ENTER(false);
  *layout = layouts().make<cublas::Layout>({type, rows, columns, leading});
  return kSuccess;
}
Status cublasLtMatrixLayoutDestroy(cublas::Layout layout) {
  ENTER(false);
  return layouts().destroy(layout) ? kSuccess : s.misuse("no layout is destroyed");
}
Status cublasLtMatrixLayoutSetAttribute(cublas::Layout layout, int attribute, const void* value, size_t bytes) {
  ENTER(false);
  Layout* l = layouts().find(layout);
  const bool known = l != nullptr && (attribute == cublas::kBatchCount    ? read(l->batch, value, bytes)
                                      : attribute == cublas::kBatchStride ? read(l->batch_stride, value, bytes)
                                                                          : false);
  return known ? kSuccess : s.misuse("an attribute of a layout");
}
Status cublasLtMatmulPreferenceCreate(cublas::Preference* preference) {
  ENTER(false);
  *preference = preferences().make<cublas::Preference>({});
  return kSuccess;
}
Status cublasLtMatmulPreferenceDestroy(cublas::Preference preference) {
  ENTER(false);
  return preferences().destroy(preference) ? kSuccess : s.misuse("no preference is destroyed");
}
Status cublasLtMatmulPreferenceSetAttribute(cublas::Preference preference, int attribute, const void* value,
                                            size_t bytes) {
  ENTER(false);
  Preference* p = preferences().find(preference);
  if (p == nullptr) return s.misuse("no preference is set");
  if (attribute >= cublas::kAlignmentOfFirst && attribute <= cublas::kAlignmentOfResult)
    return read(p->alignments[attribute], value, bytes) ? kSuccess : s.misuse("an alignment");
  const bool known = attribute == cublas::kWorkspaceBytes     ? read(p->workspace_bytes, value, bytes)
                     : attribute == cublas::kReductionSchemes ? read(p->schemes, value, bytes)
                                                              : false;
  return known ? kSuccess : s.misuse("an attribute that preferences do not have");
}
Status cublasLtMatmulAlgoGetHeuristic(cublas::Handle handle, cublas::Operation operation, cublas::Layout first,
                                      cublas::Layout second, cublas::Layout addend, cublas::Layout result,
                                      cublas::Preference preference, int most, cublas::Choice* choices, int* count) {
  ENTER(true);
  const Operation* o = operations().find(operation);
  const Layout *a = layouts().find(first), *b = layouts().find(second), *d = layouts().find(result);
  const Preference* p = preferences().find(preference);
  if (libraries().find(handle) == nullptr || o == nullptr || a == nullptr || b == nullptr || d == nullptr ||
      addend != result || p == nullptr || most < 1)
    return s.misuse("an algorithm for nothing");
  if (const std::string wrong = mistake(*o, *a, *b, *d); !wrong.empty()) return s.misuse("cuBLASLt: " + wrong, kWrong);
  if ((p->schemes & ~2u) != 0) return s.misuse("a split-K reduction that rounds more than once");
  *count = 0;
  if (p->workspace_bytes < kWorkspaceBytes || p->alignments.size() != 4) return kRefused;
  choices[0] = {};
  choices[0].algorithm.words[0] = mark_of(*o, *a, *b, *d);
  for (int k = 0; k < 3; ++k)
    choices[0].algorithm.words[1 + k] = p->alignments.at(k == 2 ? cublas::kAlignmentOfResult : 5 + k);
  choices[0].workspace_bytes = kWorkspaceBytes;
  *count = 1;
  return kSuccess;
}
Status cublasLtMatmul(cublas::Handle handle, cublas::Operation operation, const void* alpha, const void* first,
                      cublas::Layout first_layout, const void* second, cublas::Layout second_layout, const void* beta,
                      const void* addend, cublas::Layout addend_layout, void* result, cublas::Layout result_layout,
                      const cublas::Algorithm* algorithm, void* workspace, size_t workspace_bytes,
                      cuda::Stream stream) {
  ENTER(true);
  const Operation* o = operations().find(operation);
  const Layout *a = layouts().find(first_layout), *b = layouts().find(second_layout),
               *d = layouts().find(result_layout);
  if (libraries().find(handle) == nullptr || o == nullptr || a == nullptr || b == nullptr || d == nullptr)
    return s.misuse("a product of nothing");
  if (addend != result || addend_layout != result_layout || algorithm->words[0] != mark_of(*o, *a, *b, *d))
    return s.misuse("a product that its algorithm is not for");
  const bool wide = o->scale == cublas::kF64;
  const double one = wide ? *static_cast<const double*>(alpha) : *static_cast<const float*>(alpha);
  const double zero = wide ? *static_cast<const double*>(beta) : *static_cast<const float*>(beta);
  if (one != 1 || zero != 0) return s.misuse("a product with factors");
  struct Use {
    const void* at;
    size_t bytes, alignment;
  };
  const std::vector<Use> uses{{first, a->bytes(), algorithm->words[1]},
                              {second, b->bytes(), algorithm->words[2]},
                              {result, d->bytes(), algorithm->words[3]},
                              {workspace, kWorkspaceBytes, 256}};
  const auto held = [&s, uses] {
    for (const Use& use : uses)
      if (!s.holds(reinterpret_cast<uintptr_t>(use.at), use.bytes)) return false;
    return true;
  };
  for (const Use& use : uses)
    if (reinterpret_cast<uintptr_t>(use.at) % use.alignment != 0)
      return s.misuse("a matrix less aligned than was said");
  if (workspace_bytes < kWorkspaceBytes || !held()) return s.misuse("a matrix leaves its allocation");
  const auto memory = [](const void* p) { return static_cast<std::byte*>(const_cast<void*>(p)); };
  const Matrix lhs{*a, memory(first)}, rhs{*b, memory(second)}, out{*d, memory(result)};
  return s.ask(stream, [&s, held, o = *o, lhs, rhs, out, workspace] {
    if (!held()) return s.misuse("a matrix was freed before its product was computed", kLaunchFailed);
    std::memset(workspace, 0x5a, kWorkspaceBytes);
    multiply(o, lhs, rhs, out);
    return kSuccess;
  });
}

}  // extern "C"
