#pragma once
// A running trace. Traces of a thread form a stack; a builder's graph is closed, so a value of an enclosing trace
// enters it as one more input (a capture), or again as a literal or constant.
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "calque/detail/trace.h"

namespace calque::detail {

struct Path;

class Builder {
 public:
  Builder(std::string_view name, std::span<const Type> inputs, const TraceOptions& options, Builder* parent);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  uint64_t id() const { return id_; }
  Builder* parent() const { return parent_; }
  /// The number of enclosing traces.
  int depth() const { return depth_; }
  bool eager() const { return eager_; }
  Graph& graph() { return graph_; }
  const std::vector<Handle>& captures() const { return captures_; }
  /// The path that the trace follows, or null.
  Path* path() const { return path_; }
  /// Who answers what the path does not; null: the answer is 0.
  Oracle* oracle() const { return oracle_; }
  void follow(Path* path, Oracle* oracle) {
    path_ = path;
    oracle_ = oracle;
  }
  Hoist* hoist() const { return hoist_; }
  size_t num_inputs() const { return num_inputs_; }
  Handle handle(Value v) const { return {v.id(), 0, id_}; }

  /// The value of this trace for any living tracer. Throws LeakedTracerError.
  Value resolve(Handle h, Location at) {
    if (h.trace == id_) return Value(h.value);
    return capture(h, at);
  }
  /// `user_location` in this trace.
  Location locate(Location at) {
    // Lines of one file follow each other, so one comparison of addresses settles nearly all.
    if (!at.known() || at.file_name() != last_name_) return locate_elsewhere(at);
    header_ = nullptr;
    return last_ = Location(last_.file_name(), at.line(), at.column());
  }
  /// The header of Eigen in which the last operation was recorded, else null.
  const char* eigen_header() const { return header_; }
  /// Appends an equation; under an eager trace, evaluates it.
  Equation& record(const Primitive& primitive, ValueList operands, Attributes attributes, std::vector<Graph> subgraphs,
                   Location at);
  Value literal(const Literal& element, const Type& type);
  Value constant(const AnyArray& array);
  /// The concrete value in an eager trace.
  const AnyArray& value(Value v) const { return values_[v.id()]; }
  void note_eigen_input(Value v) { eigen_inputs_.push_back(v); }
  bool is_eigen_input(Value v) const {
    return std::find(eigen_inputs_.begin(), eigen_inputs_.end(), v) != eigen_inputs_.end();
  }
  /// "argument 0 .w[1]", or empty.
  std::string input_path(Value v) const;

 private:
  Value capture(Handle h, Location at);
  Location locate_elsewhere(Location at);
  void evaluate(const Equation& e);
  void warn_of_many_equations(Location at);
  void set_value(Value v, AnyArray array);

  uint64_t id_;
  Builder* parent_;
  int depth_;
  Path* path_ = nullptr;
  Oracle* oracle_ = nullptr;
  Hoist* hoist_;
  bool eager_;
  bool is_loop_body_, uses_loops_ = false;
  bool warned_ = false;
  Location last_;                 // the last user line, here or in an enclosing trace; persistent
  const char* last_name_ = "";    // its file name as the operation passed it
  const char* header_ = nullptr;  // of Eigen, if the last operation was recorded there
  Graph graph_;
  size_t num_inputs_;
  std::vector<AnyArray> values_;  // by value id; only when eager
  std::vector<std::string> paths_;
  std::vector<Value> eigen_inputs_;
  std::vector<Handle> captures_;
  struct Key {
    uint64_t trace;
    uint32_t value;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const { return static_cast<size_t>((k.trace * 0x9e3779b97f4a7c15u) ^ k.value); }
  };
  std::unordered_map<Key, Value, KeyHash> captured_;
  std::unordered_map<const void*, Value> constants_;  // by storage identity, kept alive by the graph or:
  std::vector<AnyArray> borrowed_;  // arrays that borrow the caller's memory, of which the graph has copies
};

/// RAII: while an instance exists, eager traces record debug_print without printing, because the transformed graph of
/// what a transformation traces is recorded (and prints) afterwards.
class QuietTraces {
 public:
  QuietTraces();
  ~QuietTraces();
  QuietTraces(const QuietTraces&) = delete;
  QuietTraces& operator=(const QuietTraces&) = delete;
};

/// The limit of the graph parser too; deeper nesting could exhaust the stack.
inline constexpr int kMaxDepth = 200;
inline constexpr size_t kMaxRank = 64;

/// Runs the body in a new trace, which is discarded afterwards, and sets the outputs of its graph.
void run_trace(Builder& builder, BodyRef body, TraceResult& result);
/// Moves the closed, canonical graph and the captures into the result.
void finish_trace(Builder& builder, TraceResult& result);
/// `trace_graph` without regard to branches.
TraceResult trace_once(std::string_view name, std::span<const Type> inputs, BodyRef body, const TraceOptions& options);
/// `trace_graph` of a body that is run for both answers to each question.
TraceResult trace_all_branches(std::string_view name, std::span<const Type> inputs, BodyRef body,
                               const TraceOptions& options);

/// `trace_graph` of a body whose questions `options.oracle` answers. Where there were any, the graph is as recorded.
TraceResult trace_path(std::string_view name, std::span<const Type> inputs, BodyRef body, const TraceOptions& options);

/// RAII: the enclosing trace is the innermost one.
class Outside {
 public:
  explicit Outside(const Builder& inner);
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  Builder* inner_;
};

/// The innermost trace of this thread, or null.
Builder* innermost();
/// The innermost trace. Throws LeakedTracerError that names `operation` when no trace is running.
Builder& innermost(std::string_view operation, Location at);
/// The running trace that a tracer belongs to. Throws LeakedTracerError.
Builder& owner(Handle h, Location at);

/// The location to report: `at`, or the last recorded user line (without a column) when `at` is unknown or in a header
/// of Eigen, of the standard library or of this library.
Location user_location(Location at);
/// How a tracer of a running trace came about: "argument 0 .w[1]" or "the result of sin". The line of the operation
/// replaces `where`. Throws LeakedTracerError.
std::string origin_of(Handle h, Location& where);
/// The header of Eigen in which the last operation was recorded, else empty.
std::string_view last_eigen_header();
/// The replacement for the Eigen algorithm that has just branched on a tracer, such as "cq::normalized(v)"; empty if
/// the branch was not in Eigen.
std::string_view instead_of_eigen();

/// A copy of the graph with inputs of `types`; new input position[i] replaces old input i (UINT32_MAX: the old input is
/// unused and dropped).
Graph with_inputs(const Graph& graph, std::span<const Type> types, std::span<const uint32_t> position);

}  // namespace calque::detail
