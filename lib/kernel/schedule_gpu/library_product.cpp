// Indices are tracked as affine functions of the loop variables. Any other index ends the search.
#include "kernel/schedule_gpu/library_product.h"

#include <algorithm>
#include <map>

#include "kernel/schedule_gpu/loop_queries.h"
#include "primitives/elementwise/arithmetic.h"
#include "primitives/elementwise/convert.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

namespace {

/// constant + sum of steps[v] * v. Steps are not zero.
struct AffineIndex {
  int64_t constant = 0;
  std::map<Id, int64_t> steps;
  int64_t step(Id variable) const {
    const auto found = steps.find(variable);
    return found == steps.end() ? 0 : found->second;
  }
};

/// a + b * factor, where it does not overflow.
std::optional<AffineIndex> combined(const AffineIndex& a, const AffineIndex& b, int64_t factor) {
  AffineIndex sum = a;
  const auto add = [&](int64_t& to, int64_t value) {
    int64_t product = 0;
    return !__builtin_mul_overflow(value, factor, &product) && !__builtin_add_overflow(to, product, &to);
  };
  if (!add(sum.constant, b.constant)) return std::nullopt;
  for (const auto& [variable, step] : b.steps)
    if (!add(sum.steps[variable], step)) return std::nullopt;
  std::erase_if(sum.steps, [](const auto& entry) { return entry.second == 0; });
  return sum;
}

/// Strides of a matrix, and of its batch, in elements.
struct MatrixAccess {
  int32_t buffer = -1;
  int64_t offset = 0;
  std::vector<int64_t> batch;  ///< steps by batch loop, the outermost first
  int64_t row = 0, column = 0;
};

class Recognizer {
 public:
  explicit Recognizer(const Kernel& kernel) : k_(kernel) {}

  std::optional<LibraryProduct> run() { return descend(only_work(k_.body), true); }

  /// Of an outermost instruction, with its own output.
  std::optional<ProductInNest> run_alone(const Instruction& outermost) {
    for (const Instruction& i : k_.body.instructions)
      if (i.op == Op::constant || i.op == Op::scalar) follow(i);
    own_buffers_ = true;
    const auto product = descend(&outermost, false);
    if (!product) return std::nullopt;
    return ProductInNest{*product, product->lhs.buffer == kOwnLhs, product->rhs.buffer == kOwnRhs};
  }

 private:
  std::optional<LibraryProduct> descend(const Instruction* at, bool stored) {
    while (at != nullptr && at->op != Op::contraction) {
      variables_.push_back(at->regions[0].parameters[0]);
      extents_.push_back(at->extent);
      values_[variables_.back()] = AffineIndex{0, {{variables_.back(), 1}}};
      at = only_work(at->regions[0]);
    }
    if (at == nullptr) return std::nullopt;
    return product(*at, stored ? output(at->regions[2]) : rows_of_sums(*at));
  }

  /// [batch..., rows, columns] in a buffer of the accumulators' dtype.
  MatrixAccess rows_of_sums(const Instruction& i) const { return array_of_rows(kOwnSums, i.rows, i.columns); }
  MatrixAccess array_of_rows(int32_t buffer, int64_t rows, int64_t columns) const {
    MatrixAccess a{buffer, 0, {}, columns, 1};
    int64_t stride = rows * columns;
    a.batch.resize(extents_.size());
    for (size_t l = extents_.size(); l-- > 0; stride *= extents_[l]) a.batch[l] = stride;
    return a;
  }
  DType dtype_of(const MatrixAccess& a, const Instruction& i) const {
    const auto of_value = [&](Id id) { return k_.values[static_cast<size_t>(id)]; };
    if (a.buffer == kOwnSums) return of_value(i.regions[2].parameters[2]);
    if (a.buffer < 0) return of_value(i.regions[a.buffer == kOwnLhs ? 0 : 1].instructions.back().operands[0]);
    return k_.buffers[static_cast<size_t>(a.buffer)].dtype;
  }

  /// The only parallel loop or contraction of a region whose other instructions are scalar.
  const Instruction* only_work(const Region& region) {
    const Instruction* found = nullptr;
    for (const Instruction& i : region.instructions) {
      if (i.op == Op::constant || i.op == Op::scalar) {
        follow(i);
      } else if (found == nullptr && (i.op == Op::contraction || is_parallel(i))) {
        found = &i;
      } else {
        return nullptr;
      }
    }
    return found;
  }

  void follow(const Instruction& i) {
    const Id result = i.results[0];
    if (k_.values[static_cast<size_t>(result)] != DType::i64) return;
    if (i.op == Op::constant) {
      values_[result] = AffineIndex{i.literal.as<int64_t>(), {}};
      return;
    }
    const bool sum = i.primitive == id_of<Add>, difference = i.primitive == id_of<Sub>;
    if ((!sum && !difference && i.primitive != id_of<Mul>) || i.operands.size() != 2) return;
    const AffineIndex *a = value(i.operands[0]), *b = value(i.operands[1]);
    if (a == nullptr || b == nullptr) return;
    std::optional<AffineIndex> made;
    if (sum || difference) {
      made = combined(*a, *b, sum ? 1 : -1);
    } else if (b->steps.empty()) {
      made = combined({}, *a, b->constant);
    } else if (a->steps.empty()) {
      made = combined({}, *b, a->constant);
    }
    if (made) values_[result] = *made;
  }

  const AffineIndex* value(Id id) const {
    const auto found = values_.find(id);
    return found == values_.end() ? nullptr : &found->second;
  }

  std::optional<MatrixAccess> access(const Instruction& i, Id row, Id column) const {
    const AffineIndex* at = value(i.operands[0]);
    if (at == nullptr) return std::nullopt;
    MatrixAccess a{i.buffer, at->constant, {}, at->step(row), at->step(column)};
    for (const Id v : variables_) a.batch.push_back(at->step(v));
    return a;
  }

  /// The access of a factor that is loaded without further computation.
  std::optional<MatrixAccess> factor(const Region& region) {
    const Id row = region.parameters[0], column = region.parameters[1];
    const Instruction* load = nullptr;
    enter(region);
    for (const Instruction& i : region.instructions) {
      if (i.op == Op::constant || i.op == Op::scalar) {
        follow(i);
      } else if (i.op == Op::load && load == nullptr && i.operands.size() == 1) {
        load = &i;
      } else if (i.op != Op::yield || load == nullptr || i.operands[0] != load->results[0]) {
        return std::nullopt;
      }
    }
    return load == nullptr ? std::nullopt : access(*load, row, column);
  }

  /// The access of the output, which is stored unchanged or converted.
  std::optional<MatrixAccess> output(const Region& region) {
    const Id row = region.parameters[0], column = region.parameters[1];
    Id sum = region.parameters[2];
    const Instruction* store = nullptr;
    enter(region);
    for (const Instruction& i : region.instructions) {
      if (store != nullptr) return std::nullopt;
      if (i.op == Op::scalar && i.primitive == id_of<Convert> && i.operands[0] == sum) {
        if (sum != region.parameters[2]) return std::nullopt;  // rounded twice
        sum = i.results[0];
      } else if (i.op == Op::constant || i.op == Op::scalar) {
        follow(i);
      } else if (i.op == Op::store && i.operands.size() == 2 && i.operands[1] == sum && i.combiners.empty()) {
        store = &i;
      } else {
        return std::nullopt;
      }
    }
    return store == nullptr ? std::nullopt : access(*store, row, column);
  }

  void enter(const Region& region) {
    for (size_t p = 0; p < 2; ++p) values_[region.parameters[p]] = AffineIndex{0, {{region.parameters[p], 1}}};
  }

  std::optional<LibraryProduct> product(const Instruction& i, std::optional<MatrixAccess> out) {
    auto lhs = factor(i.regions[0]), rhs = factor(i.regions[1]);
    if (!lhs && own_buffers_) lhs = array_of_rows(kOwnLhs, i.rows, i.extent);
    if (!rhs && own_buffers_) rhs = array_of_rows(kOwnRhs, i.extent, i.columns);
    if (!lhs || !rhs || !out || out->buffer == lhs->buffer || out->buffer == rhs->buffer) return std::nullopt;
    LibraryProduct p;
    p.rows = i.rows;
    p.columns = i.columns;
    p.k = i.extent;
    p.factor = dtype_of(*lhs, i);
    p.result = dtype_of(*out, i);
    if (!dtypes_suit(p) || dtype_of(*rhs, i) != p.factor) return std::nullopt;
    if (out->column != 1) {
      // The product of the transposed factors is the transposed product.
      std::swap(p.rows, p.columns);
      std::swap(lhs, rhs);
      for (MatrixAccess* a : {&*lhs, &*rhs, &*out}) std::swap(a->row, a->column);
    }
    if (!collapse_batches(p, {&*lhs, &*rhs, &*out})) return std::nullopt;
    const bool fits = matrix(*lhs, p.rows, p.k, p.lhs) && matrix(*rhs, p.k, p.columns, p.rhs) &&
                      matrix(*out, p.rows, p.columns, p.out) && !p.out.transposed && !overlaps(p);
    return fits ? std::optional(p) : std::nullopt;
  }

  static bool dtypes_suit(const LibraryProduct& p) {
    switch (p.factor) {
      case DType::f16:
      case DType::bf16:
        return p.result == p.factor || p.result == DType::f32;
      case DType::f32:
      case DType::f64:
        return p.result == p.factor;
      default:
        return false;
    }
  }

  /// Collapses batch loops into one, where each matrix has a uniform stride over them.
  bool collapse_batches(LibraryProduct& p, std::initializer_list<MatrixAccess*> all) const {
    std::optional<size_t> inner;
    for (size_t l = extents_.size(); l-- > 0;) {
      if (extents_[l] == 1) continue;
      for (const MatrixAccess* a : all)
        if (inner && a->batch[l] != a->batch[*inner] * p.batch) return false;
      if (!inner) inner = l;
      p.batch *= extents_[l];
    }
    for (MatrixAccess* a : all) a->batch = {inner ? a->batch[*inner] : 0};
    return true;
  }

  bool matrix(const MatrixAccess& a, int64_t rows, int64_t columns, LibraryProduct::Matrix& m) const {
    m.transposed = a.column != 1;
    m.leading = m.transposed ? a.column : a.row;
    if ((m.transposed ? a.row : a.column) != 1 || m.leading < (m.transposed ? rows : columns)) return false;
    m.buffer = a.buffer;
    m.offset = a.offset;
    m.batch_stride = a.batch[0];
    if (a.buffer < 0) {
      m.alignment = kOwnAlignment;
      return m.batch_stride >= 0;
    }
    const Buffer& buffer = k_.buffers[static_cast<size_t>(a.buffer)];
    const int64_t bytes = m.offset * static_cast<int64_t>(size_of(buffer.dtype));
    m.alignment = std::clamp<int64_t>(buffer.alignment, 1, kMostAlignment);
    while (bytes % m.alignment != 0) m.alignment /= 2;
    return m.batch_stride >= 0 && m.offset >= 0;
  }

  static bool overlaps(const LibraryProduct& p) {
    const int64_t one = (p.rows - 1) * p.out.leading + p.columns;
    const bool disjoint = p.out.batch_stride >= one;
    const bool interleaved =
        p.out.batch_stride >= p.columns && p.out.leading >= (p.batch - 1) * p.out.batch_stride + p.columns;
    return p.batch > 1 && !disjoint && !interleaved;
  }

  static constexpr int64_t kMostAlignment = 256, kOwnAlignment = 64;
  /// Buffers that the kernel does not have yet.
  static constexpr int32_t kOwnSums = -2, kOwnLhs = -3, kOwnRhs = -4;

  const Kernel& k_;
  std::map<Id, AffineIndex> values_;
  std::vector<Id> variables_;  ///< of the loops around the product
  std::vector<int64_t> extents_;
  bool own_buffers_ = false;
};

}  // namespace

std::optional<ProductInNest> library_product_in(const Kernel& kernel, const Instruction& outermost) {
  return Recognizer(kernel).run_alone(outermost);
}

std::optional<LibraryProduct> library_product_of(const Kernel& kernel) { return Recognizer(kernel).run(); }

}  // namespace calque::kernel
