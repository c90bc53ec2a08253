#pragma once
// Copies instructions from one kernel into another, renaming values and buffers.
#include <functional>
#include <unordered_map>
#include <utility>

#include "kernel/ir/kernel.h"
#include "primitives/registry.h"

namespace calque::kernel {

class InstructionCopier {
 public:
  /// `buffer` maps a buffer number of `from` to one of `to`.
  InstructionCopier(const Kernel& from, Kernel& to, std::function<int32_t(int32_t)> buffer)
      : from_(from), to_(to), buffer_(std::move(buffer)) {}

  void set(Id from, Id to) { names_[from] = to; }
  bool knows(Id id) const { return names_.count(id) != 0; }
  Id of(Id id) const { return names_.at(id); }
  DType dtype(Id id) const { return from_.values[static_cast<size_t>(id)]; }
  /// Number of values of the source kernel.
  size_t count() const { return from_.values.size(); }
  int32_t buffer(int32_t from) { return buffer_(from); }

  /// A copy whose results get new names. Contractions become parallel loops over reductions.
  Instruction copy(const Instruction& i);
  void copy_into(Region& to, const Instruction& i) { to.instructions.push_back(copy(i)); }
  /// The instructions of a region, its yield included; its parameters get new names.
  Region copy(const Region& region);
  /// Appends the instructions up to the yield to `to`; the parameters must be mapped. Returns the operands of the
  /// yield.
  Ids copy_body(Region& to, const Region& region);
  /// Whether contractions are copied as they are.
  bool keeps_contractions = false;

  // ---- new instructions
  Id fresh(DType dtype) { return to_.add_value(dtype); }
  Id index(Region& to, int64_t n);
  Id constant(Region& to, DType dtype, const Literal& literal);
  Id scalar(Region& to, PrimitiveId primitive, DType dtype, std::initializer_list<Id> operands);
  Id load(Region& to, int32_t buffer, Id index);
  void store(Region& to, int32_t buffer, Id index, Id value);
  static void yield(Region& to, Ids operands);
  /// A parallel loop whose body is emitted by `body`.
  using Body = std::function<void(Region& body, Id index)>;
  Instruction parallel(int64_t extent, const Body& body);

 private:
  Instruction product(const Instruction& i);

  const Kernel& from_;
  Kernel& to_;
  std::function<int32_t(int32_t)> buffer_;
  std::unordered_map<Id, Id> names_;
};

}  // namespace calque::kernel
