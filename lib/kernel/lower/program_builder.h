#pragma once
// Builds a program step by step; shared by the lowering of graphs and of their loops.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
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

/// Appends the buffers and kernels of a graph, and the steps of its control flow, to a program.
class ProgramBuilder {
 public:
  /// BuildOptions::alignment applies to memory other than the workspace.
  ProgramBuilder(Program& program, const BuildOptions& options)
      : p_(program), alignment_(options.alignment), parallel_loops_(options.parallel_loops) {}

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
    return {View{add_workspace(p_, type), 0, {}, {}}, type, dense(type.shape), kWorkspaceAlignment, true};
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
  void region(const plan::PlannedGraph& planned, std::span<const Binding> inputs, std::span<const Binding> outputs,
              std::vector<Step>& steps, std::span<const Value> updated = {});

 private:
  struct Scope {
    const plan::PlannedGraph& planned;
    const Graph& g;
    const plan::Plan& plan;
    std::vector<Binding> bindings;
    std::vector<Step>& steps;
    std::unordered_set<uint32_t> updated;                  // ids
    std::unordered_multimap<uint32_t, Binding> also = {};  // by value id
  };

  void control(Scope& s, const Equation& e);
  struct Loop;
  void build_body(Loop& loop);
  std::string remark_on_carry(const Loop& loop, size_t carry) const;
  void carry(Scope& s, Loop& loop);
  void while_loop(Scope& s, const Equation& e);
  void scan(Scope& s, const Equation& e);
  void branch(Scope& s, const Equation& e);
  void effect(Scope& s, const Equation& e);
  void routine(Scope& s, const Equation& e);
  void kernels(std::vector<BoundKernel> bound, std::vector<Step>& steps);
  /// Gives each value of a chain of reused memory the same memory.
  void share_memory(Scope& s) const;
  /// If step n is a tiled product that the update in place after it writes, and nothing else reads.
  std::optional<StoredWindow> window_of_product(const Scope& s, size_t n) const;
  /// Before an update in place: its memory is made to hold its first operand.
  void copy_before_update(Scope& s, const Equation& e);
  void assign_outputs(Scope& s, std::span<const Binding> outputs, std::vector<Value>& copied,
                      std::vector<Binding>& copied_to);
  /// `remarks`: for each value, if its copy would be one of a whole array, what forces that; may be empty.
  void copy_values(Scope& s, std::span<const Value> values, std::span<const Binding> to,
                   std::span<const std::string> remarks = {});
  /// The line of Program::copied for a value whose memory a result of the equation does not take over. Empty if the
  /// value is not in memory or small.
  std::string copied(const Scope& s, const Equation& e, Value result, Value x) const;
  /// The same for a loop's body or what comes before it, with a reason.
  std::string copied(const Type& type, const Equation* before, const std::string& reason) const;
  /// Lists the updates in loops that compute a whole array because they may not write into their operand.
  void list_passes(const Scope& s);
  void copy(const Binding& to, const Binding& from, std::vector<Step>& steps);
  Memory memory(Scope& s) {
    return {s.g, s.plan, s.bindings, [this](const AnyArray& a) { return constant(a); }, &s.updated, &s.also};
  }
  /// The memory of an operand of control flow; literals and constants included.
  Binding operand(Scope& s, Value v, bool must_be_dense);

  Program& p_;
  const int64_t alignment_;
  const ParallelLoops parallel_loops_;
  std::vector<const Equation*> loops_;  ///< that enclose what is built, from the outermost
  std::string reason_in_branch_;        ///< why a result of the branch that is built has memory of its own
  std::vector<Binding> constants_;
  std::unordered_multimap<const void*, size_t> constant_at_;  // by data pointer: numbers of constants
};

}  // namespace calque::kernel
