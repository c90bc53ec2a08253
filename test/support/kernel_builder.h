#pragma once
// Hand-written kernels and programs, and memory that faults beyond its ends.
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "kernel/ir/kernel.h"
#include "kernel/ir/program.h"
#include "support/cpu_levels.h"
#include "support/sanitizers.h"
#include "support/stages.h"

namespace calque::test {

using kernel::Combiner;
using kernel::Id;
using kernel::Ids;
using kernel::Instruction;
using kernel::Kernel;
using kernel::kNone;
using kernel::LoopKind;
using kernel::Op;
using kernel::Program;
using kernel::Region;

class KernelBuilder {
 public:
  explicit KernelBuilder(std::string name = "k") {
    kernel_.name = std::move(name);
    regions_.push_back(&kernel_.body);
  }

  int32_t input(DType dtype, int64_t extent) { return buffer(dtype, extent, false); }
  int32_t output(DType dtype, int64_t extent) { return buffer(dtype, extent, true); }
  /// After all inputs and outputs; `parallel` takes its number.
  int32_t local(DType dtype, int64_t extent) {
    const int32_t b = buffer(dtype, extent, true);
    kernel_.buffers.back().local = true;
    kernel_.buffers.back().alignment = static_cast<int64_t>(size_of(dtype));
    return b;
  }

  template <Elem T>
  Id constant(T value) {
    return constant(dtype_of<T>, Literal::of<T>(value));
  }
  Id constant(DType dtype, const Literal& literal) {
    Instruction& i = add(Op::constant);
    i.literal = literal;
    return result(i, dtype);
  }
  Id index(int64_t value) { return constant<int64_t>(value); }

  Id op(std::string_view name, DType dtype, const std::vector<Id>& operands) {
    const Primitive* p = find_primitive(name);
    if (!p) throw std::runtime_error("no primitive " + std::string(name));
    Instruction& i = add(Op::scalar);
    i.primitive = p->id;
    i.operands = Ids(operands);
    return result(i, dtype);
  }
  /// An operation whose result has its operands' dtype.
  Id op(std::string_view name, const std::vector<Id>& operands) { return op(name, dtype(operands.back()), operands); }
  Id add(Id a, Id b) { return op("add", {a, b}); }
  Id mul(Id a, Id b) { return op("mul", {a, b}); }
  Id compare(std::string_view name, Id a, Id b) { return op(name, DType::bool_, {a, b}); }
  Id convert(DType to, Id v) { return op("convert", to, {v}); }

  Id load(int32_t buffer, Id index, Id predicate = kNone) {
    Instruction& i = add(Op::load);
    i.buffer = buffer;
    i.operands = {index};
    if (predicate != kNone) i.operands.push_back(predicate);
    return result(i, kernel_.buffers[static_cast<size_t>(buffer)].dtype);
  }
  void store(int32_t buffer, Id index, Id value, Id predicate = kNone) {
    Instruction& i = add(Op::store);
    i.buffer = buffer;
    i.operands = {index, value};
    if (predicate != kNone) i.operands.push_back(predicate);
  }

  void parallel(int64_t extent, bool vectorize, const std::function<void(Id)>& body,
                std::initializer_list<int32_t> locals = {}) {
    Instruction i;
    i.locals = locals;
    i.op = Op::loop;
    i.loop = LoopKind::parallel;
    i.extent = extent;
    i.vectorize = vectorize;
    i.regions.push_back(region({DType::i64}, [&](const Ids& p) {
      body(p[0]);
      return Ids{};
    }));
    put(std::move(i));
  }
  Ids sequential(int64_t extent, const Ids& initial, const std::function<Ids(Id, const Ids&)>& body) {
    Instruction i;
    i.op = Op::loop;
    i.loop = LoopKind::sequential;
    i.extent = extent;
    i.operands = initial;
    std::vector<DType> parameters{DType::i64};
    for (const Id id : initial) parameters.push_back(dtype(id));
    i.regions.push_back(region(parameters, [&](const Ids& p) {
      Ids carries;
      for (size_t c = 1; c < p.size(); ++c) carries.push_back(p[c]);
      return body(p[0], carries);
    }));
    return put(std::move(i), initial);
  }
  Ids reduction(int64_t extent, bool vectorize, const Ids& initial, const std::vector<Combiner>& combiners,
                const std::function<Ids(Id)>& body) {
    Instruction i;
    i.op = Op::loop;
    i.loop = LoopKind::reduction;
    i.extent = extent;
    i.vectorize = vectorize;
    i.operands = initial;
    for (const Combiner c : combiners) i.combiners.push_back(c);
    i.regions.push_back(region({DType::i64}, [&](const Ids& p) { return body(p[0]); }));
    return put(std::move(i), initial);
  }
  Ids while_loop(const Ids& initial, const std::function<Id(const Ids&)>& condition,
                 const std::function<Ids(const Ids&)>& body) {
    Instruction i;
    i.op = Op::while_;
    i.operands = initial;
    std::vector<DType> carries;
    for (const Id id : initial) carries.push_back(dtype(id));
    i.regions.push_back(region(carries, [&](const Ids& p) { return Ids{condition(p)}; }));
    i.regions.push_back(region(carries, body));
    return put(std::move(i), initial);
  }
  Ids if_else(Id condition, const std::vector<DType>& results, const std::function<Ids()>& then_body,
              const std::function<Ids()>& else_body) {
    Instruction i;
    i.op = Op::if_;
    i.operands = {condition};
    i.regions.push_back(region({}, [&](const Ids&) { return then_body(); }));
    i.regions.push_back(region({}, [&](const Ids&) { return else_body(); }));
    for (const DType d : results) i.results.push_back(kernel_.add_value(d));
    const Ids ids = i.results;
    regions_.back()->instructions.push_back(std::move(i));
    return ids;
  }

  /// The accumulator has the operands' dtype, or f32 for 16-bit floats.
  void contraction(int64_t rows, int64_t columns, int64_t k, const std::function<Id(Id, Id)>& lhs,
                   const std::function<Id(Id, Id)>& rhs, const std::function<void(Id, Id, Id)>& epilogue,
                   kernel::ParallelMapping mapping = kernel::ParallelMapping::replicated) {
    Instruction i;
    i.op = Op::contraction;
    i.rows = rows;
    i.columns = columns;
    i.extent = k;
    i.mapping = mapping;
    i.regions.push_back(region({DType::i64, DType::i64}, [&](const Ids& p) { return Ids{lhs(p[0], p[1])}; }));
    i.regions.push_back(region({DType::i64, DType::i64}, [&](const Ids& p) { return Ids{rhs(p[0], p[1])}; }));
    const DType factor = dtype(i.regions[0].instructions.back().operands[0]);
    const DType sum = factor == DType::f16 || factor == DType::bf16 ? DType::f32 : factor;
    i.regions.push_back(region({DType::i64, DType::i64, sum}, [&](const Ids& p) {
      epilogue(p[0], p[1], p[2]);
      return Ids{};
    }));
    put(std::move(i));
  }

  DType dtype(Id id) const { return kernel_.values[static_cast<size_t>(id)]; }
  Kernel& kernel() { return kernel_; }

  /// A program that runs the kernel once: its buffers are the inputs and outputs, in order.
  Program program() const {
    kernel::verify(kernel_);
    Program p;
    p.name = "test";
    p.kernels.push_back(kernel_);
    kernel::Step step;
    step.kernel = 0;
    for (const kernel::Buffer& b : kernel_.buffers) {
      if (b.local) break;
      kernel::ProgramBuffer out;
      out.kind = b.written ? kernel::BufferKind::output : kernel::BufferKind::input;
      out.index = b.written ? p.num_outputs++ : p.num_inputs++;
      out.type = {b.dtype, Shape{b.extent}};
      out.strides = {1};
      kernel::View view;
      view.buffer = static_cast<int32_t>(p.buffers.size());
      step.views.push_back(view);
      p.buffers.push_back(out);
    }
    p.steps.push_back(std::move(step));
    return p;
  }

 private:
  int32_t buffer(DType dtype, int64_t extent, bool written) {
    kernel::Buffer b;
    b.dtype = dtype;
    b.extent = extent;
    b.written = written;
    kernel_.buffers.push_back(b);
    return static_cast<int32_t>(kernel_.buffers.size()) - 1;
  }
  Instruction& add(Op op) {
    Instruction i;
    i.op = op;
    regions_.back()->instructions.push_back(std::move(i));
    return regions_.back()->instructions.back();
  }
  Id result(Instruction& i, DType dtype) {
    const Id id = kernel_.add_value(dtype);
    i.results = {id};
    return id;
  }
  Region region(const std::vector<DType>& parameters, const std::function<Ids(const Ids&)>& body) {
    Region r;
    for (const DType d : parameters) r.parameters.push_back(kernel_.add_value(d));
    regions_.push_back(&r);
    const Ids yields = body(r.parameters);
    if (!yields.empty()) add(Op::yield).operands = yields;
    regions_.pop_back();
    return r;
  }
  Ids put(Instruction i, const Ids& like = {}) {
    for (const Id id : like) i.results.push_back(kernel_.add_value(dtype(id)));
    const Ids ids = i.results;
    regions_.back()->instructions.push_back(std::move(i));
    return ids;
  }

  Kernel kernel_;
  std::vector<Region*> regions_;
};

/// Elements that end at an unmapped page (or start after one): out-of-bounds accesses fault.
template <class T>
class Guarded {
 public:
  enum class Side { end, start };
  explicit Guarded(size_t count, Side side = Side::end) : count_(count) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    size_ = bytes + 2 * page;
    map_ = static_cast<char*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED) throw std::runtime_error("mmap");
    if (bytes > 0 && mprotect(map_ + page, bytes, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("mprotect");
    data_ = reinterpret_cast<T*>(side == Side::end ? map_ + page + bytes - count * sizeof(T) : map_ + page);
  }
  explicit Guarded(const std::vector<T>& values) : Guarded(values.size()) {
    if (!values.empty()) std::memcpy(static_cast<void*>(data_), values.data(), values.size() * sizeof(T));
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(map_, size_); }
  T* data() { return data_; }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }

 private:
  size_t count_, size_ = 0;
  char* map_ = nullptr;
  T* data_ = nullptr;
};

/// Compiles and runs: pointers to the inputs, then to the outputs. Under AddressSanitizer the generated code is
/// instrumented too.
inline void run(const Program& program, const std::vector<void*>& pointers, codegen::CodegenOptions options = {}) {
  options.sanitize = kAddressSanitizer;
  const auto compiled = test::stages::compile(program, options);
  codegen::RuntimeTable table;
  codegen::ContextHeader context{&table};
  if (compiled->entry()(&context, pointers.data()) != 0) throw std::runtime_error("the entry failed");
}

inline codegen::CodegenOptions cpu(const std::string& name) {
  codegen::CodegenOptions options;
  options.target.cpu = name;
  return options;
}

}  // namespace calque::test
