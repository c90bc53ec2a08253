#pragma once
// Builds a program step by step; shared by the lowering of graphs and of their loops.
#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernel/buffers/workspace.h"
#include "kernel/ir/program.h"
#include "kernel/lower/build.h"
#include "kernel/lower/lower_group.h"

namespace calque::kernel {

inline Shape::Dims dense(const Shape& shape) { return row_major_strides(shape); }

/// The carries that the body of their loop may update in place. Whether it can shows only when the buffers of carries
/// are merged: one that cannot is excluded, and the program lowered again.
class UpdatedCarries {
 public:
  /// Of an attempt. Loops are numbered in the order in which they are lowered, the same in every attempt.
  void begin() { tried_.clear(); }
  bool may_update(int32_t loop, size_t carry) const { return excluded_.count({loop, carry}) == 0; }
  /// `before`: the carry's buffer; `end`: the number of the first loop after those inside this one.
  void add(int32_t before, int32_t loop, size_t carry, int32_t end) { tried_[before] = {loop, carry, end}; }
  /// Excludes the carries with these buffers. Loops inside theirs are tried anew.
  void exclude(const std::vector<int32_t>& before);

 private:
  struct Tried {
    int32_t loop = 0;
    size_t carry = 0;
    int32_t end = 0;
  };
  std::set<std::pair<int32_t, size_t>> excluded_;
  std::unordered_map<int32_t, Tried> tried_;
};

/// Appends the buffers and kernels of a graph, and the steps of its control flow, to a program.
class ProgramBuilder {
 public:
  /// BuildOptions::alignment applies to memory other than the workspace.
  ProgramBuilder(Program& program, UpdatedCarries& updated, const BuildOptions& options)
      : p_(program),
        updated_(updated),
        alignment_(options.alignment),
        parallel_loops_(options.parallel_loops),
        most_buffers_(options.most_buffers),
        log_(options.log) {}

  Binding add_buffer(BufferKind kind, int32_t index, const Type& type, Shape::Dims strides) {
    ProgramBuffer b;
    b.kind = kind;
    b.index = index;
    b.type = type;
    b.strides = strides;
    p_.buffers.push_back(std::move(b));
    return {View{static_cast<int32_t>(p_.buffers.size()) - 1, 0, {}, {}}, type, std::move(strides),
            std::max(alignment_, static_cast<int64_t>(size_of(type.dtype))), true};
  }

  Binding workspace(const Type& type) {
    return {View{add_workspace(p_, type), 0, {}, {}}, type, dense(type.shape), 64, true};
  }

  Binding constant(const AnyArray& array) {
    const void* const data = array.storage().is_absent() ? nullptr : array.storage().data_on_host();
    const auto [begin, end] = constant_at_.equal_range(data);
    for (auto at = begin; at != end; ++at) {
      const AnyArray& known = p_.constants[at->second];
      if (known.storage() == array.storage() && known.type() == array.type()) return constants_[at->second];
    }
    constant_at_.emplace(data, p_.constants.size());
    p_.constants.push_back(array);
    constants_.push_back(add_buffer(BufferKind::constant, static_cast<int32_t>(p_.constants.size()) - 1, array.type(),
                                    dense(array.shape())));
    return constants_.back();
  }

  /// Appends steps that compute `outputs` of a graph from `inputs`. The buffers of the values `updated` already hold
  /// their first operands.
  void region(const Graph& g, std::span<const Binding> inputs, std::span<const Binding> outputs,
              std::vector<Step>& steps, std::span<const Value> updated = {});

 private:
  struct Scope {
    const Graph& g;
    plan::Plan plan;
    std::vector<Binding> bindings;
    std::vector<Step>& steps;
    std::unordered_set<uint32_t> updated;                  // ids
    std::unordered_multimap<uint32_t, Binding> also = {};  // by value id
  };

  void control(Scope& s, const Equation& e);
  struct Loop;
  void build_body(Loop& loop);
  void carry(Scope& s, Loop& loop);
  void while_loop(Scope& s, const Equation& e);
  void scan(Scope& s, const Equation& e);
  void branch(Scope& s, const Equation& e);
  void effect(Scope& s, const Equation& e);
  void kernels(std::vector<BoundKernel> bound, std::vector<Step>& steps);
  void assign_outputs(Scope& s, std::span<const Binding> outputs, std::vector<Value>& copied,
                      std::vector<Binding>& copied_to);
  void copy_values(Scope& s, std::span<const Value> values, std::span<const Binding> to);
  void copy(const Binding& to, const Binding& from, std::vector<Step>& steps);
  Memory memory(Scope& s) {
    return {s.g, s.plan, s.bindings, [this](const AnyArray& a) { return constant(a); }, &s.updated, &s.also};
  }
  /// The memory of an operand of control flow; literals and constants included.
  Binding operand(Scope& s, Value v, bool must_be_dense);

  Program& p_;
  UpdatedCarries& updated_;
  const int64_t alignment_;
  const ParallelLoops parallel_loops_;
  const size_t most_buffers_;
  PassLog* const log_;
  int32_t num_lowered_loops_ = 0;
  std::vector<Binding> constants_;
  std::unordered_multimap<const void*, size_t> constant_at_;  // by data pointer: numbers of constants
};

}  // namespace calque::kernel
