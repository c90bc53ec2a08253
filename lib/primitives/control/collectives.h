#pragma once
// Communication among those of the attribute `group`: the processes of a ProcessGroup, or the examples that a vmap with
// a named axis maps over.
//
// Derivatives are those of the whole: of the function from the operands of all ranks to the results of all ranks. So
// the transpose of a sum over all ranks is a sum over all ranks, and what a rank computes in reverse mode is the
// derivative of the sum of what all ranks return. All ranks must differentiate the same way.
//
// vmap over another axis puts the batch into the message. vmap over the axis itself turns the equation into one on the
// batch; if the axis is sharded over processes, then into that and a collective of the processes.
#include <memory>
#include <optional>
#include <vector>

#include "calque/ir/collectives.h"

#include "primitives/core/rule.h"

namespace calque::primitives {

/// What the equations have in common: at most one operand and one result.
template <Collective Kind, int Operands = 1>
struct CollectiveRule : Structural {
  static constexpr Collective collective = Kind;
  static constexpr FusionKind fusion_kind = FusionKind::effect;
  static constexpr int min_operands = Operands;
  static constexpr int max_operands = Operands;
  static constexpr bool has_effect = true;
  static void evaluate(Evaluation& e);
};

inline constexpr AttributeSpec kGroup{"group", AttributeKind::opaque};
/// The number of those in the group.
inline constexpr AttributeSpec kGroupSize{"size", AttributeKind::integer};
inline constexpr AttributeSpec kReduceOp{"op", AttributeKind::text};
inline constexpr AttributeSpec kRoot{"root", AttributeKind::integer};

struct AllReduce : CollectiveRule<Collective::all_reduce> {
  static constexpr std::string_view name = "all_reduce";
  static constexpr std::string_view doc = "all_reduce(x): the x of all ranks combined by `op`, element by element";
  static constexpr std::array attributes{kGroup, kReduceOp, kGroupSize};
  static void infer(Typing& t);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct CollectiveReduce : CollectiveRule<Collective::reduce> {
  static constexpr std::string_view name = "collective_reduce";
  static constexpr std::string_view doc = "collective_reduce(x): as all_reduce at rank `root`, zeros elsewhere";
  static constexpr std::array attributes{kGroup, kReduceOp, kRoot, kGroupSize};
  static void infer(Typing& t);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct CollectiveBroadcast : CollectiveRule<Collective::broadcast> {
  static constexpr std::string_view name = "collective_broadcast";
  static constexpr std::string_view doc = "collective_broadcast(x): the x of rank `root`";
  static constexpr std::array attributes{kGroup, kRoot, kGroupSize};
  static void infer(Typing& t);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct AllGather : CollectiveRule<Collective::all_gather> {
  static constexpr std::string_view name = "all_gather";
  static constexpr std::string_view doc = "all_gather(x): the x of all ranks, stacked along a leading axis of `size`";
  static constexpr std::array attributes{kGroup, kGroupSize};
  static void infer(Typing& t);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct CollectiveGather : CollectiveRule<Collective::gather> {
  static constexpr std::string_view name = "collective_gather";
  static constexpr std::string_view doc = "collective_gather(x): as all_gather at rank `root`, zeros elsewhere";
  static constexpr std::array attributes{kGroup, kRoot, kGroupSize};
  static void infer(Typing& t);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct CollectiveScatter : CollectiveRule<Collective::scatter> {
  static constexpr std::string_view name = "collective_scatter";
  static constexpr std::string_view doc = "collective_scatter(x): row r of the x of rank `root`, at rank r";
  static constexpr std::array attributes{kGroup, kRoot, kGroupSize};
  static void infer(Typing& t);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct ReduceScatter : CollectiveRule<Collective::reduce_scatter> {
  static constexpr std::string_view name = "reduce_scatter";
  static constexpr std::string_view doc = "reduce_scatter(x): row r of the x of all ranks combined by `op`, at rank r";
  static constexpr std::array attributes{kGroup, kReduceOp, kGroupSize};
  static void infer(Typing& t);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct AllToAll : CollectiveRule<Collective::all_to_all> {
  static constexpr std::string_view name = "all_to_all";
  static constexpr std::string_view doc = "all_to_all(x): at rank r, row i is row r of the x of rank i";
  static constexpr std::array attributes{kGroup, kGroupSize};
  static void infer(Typing& t);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct SendReceive : CollectiveRule<Collective::send_receive> {
  static constexpr std::string_view name = "send_receive";
  static constexpr std::string_view doc =
      "send_receive(x): sends x to rank `dest` and returns what rank `source` sends; -1 stands for none, from which "
      "come "
      "zeros";
  static constexpr std::array attributes{AttributeSpec{"dest", AttributeKind::integer}, kGroup, kGroupSize,
                                         AttributeSpec{"source", AttributeKind::integer}};
  static void infer(Typing& t);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct Send : CollectiveRule<Collective::send> {
  static constexpr std::string_view name = "send";
  static constexpr std::string_view doc = "send(x): sends x to rank `dest`";
  static constexpr std::array attributes{AttributeSpec{"dest", AttributeKind::integer}, kGroup, kGroupSize};
  static void infer(Typing& t);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
  static void batch(Batching& b);
};

struct Receive : CollectiveRule<Collective::receive, 0> {
  static constexpr std::string_view name = "receive";
  static constexpr std::string_view doc = "receive(): the array of type `results` that rank `source` sends";
  static constexpr std::array attributes{kGroup, AttributeSpec{"results", AttributeKind::types}, kGroupSize,
                                         AttributeSpec{"source", AttributeKind::integer}};
  static void infer(Typing& t);
  using jvp = NotDifferentiable<
      "this rank does not see whether what it receives depends on the arguments; use sendrecv, or "
      "stop_gradient where there is no derivative">;
  using transpose = NotLinear;
  static void batch(Batching& b);
};

struct CollectiveScan : CollectiveRule<Collective::scan> {
  static constexpr std::string_view name = "collective_scan";
  static constexpr std::string_view doc = "collective_scan(x): the x of ranks 0 to r combined by `op`, at rank r";
  static constexpr std::array attributes{kGroup, kReduceOp, kGroupSize};
  static void infer(Typing& t);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct Barrier : CollectiveRule<Collective::barrier, 0> {
  static constexpr std::string_view name = "barrier";
  static constexpr std::string_view doc = "barrier(): returns when all ranks have called it";
  static constexpr std::array attributes{kGroup, kGroupSize};
  static void infer(Typing& t);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
  static void batch(Batching& b);
};

/// Of mapped axes alone.
struct CollectivePermute : Structural {
  static constexpr std::string_view name = "collective_permute";
  static constexpr std::string_view doc =
      "collective_permute(x): the x of the rank that is paired with this one as its target, zeros if none is; `pairs` "
      "lists source and target by turns";
  static constexpr FusionKind fusion_kind = FusionKind::effect;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr bool has_effect = true;
  static constexpr std::array attributes{kGroup, AttributeSpec{"pairs", AttributeKind::integers}, kGroupSize};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

/// Of mapped axes alone.
struct AxisIndex : Structural {
  static constexpr std::string_view name = "axis_index";
  static constexpr std::string_view doc = "axis_index(): the number of the example in the group, i32";
  static constexpr FusionKind fusion_kind = FusionKind::effect;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = 0;
  static constexpr std::array attributes{kGroup, kGroupSize};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
  static void batch(Batching& b);
};

/// The group of a collective equation; null if the equation is another, or was read from a text.
std::shared_ptr<const CollectiveGroup> group_of(const Attributes& attributes);

/// The mapped axes along which equations of the graph and of its sub-graphs communicate, each once.
std::vector<std::shared_ptr<const MappedAxis>> mapped_axes_of(const Graph& graph);

/// Whether one of the graphs communicates along a mapped axis.
bool communicate_along_axes(const std::vector<Graph>& graphs);

/// Whether the equation, or one in its sub-graphs, has an effect that each example has by itself: any but that of
/// collectives along mapped axes.
bool has_effect_of_examples(const Equation& equation);

/// The call that a collective equation makes; none for other equations and for those of mapped axes alone.
std::optional<CollectiveCall> collective_call(PrimitiveId id, const Attributes& attributes,
                                              std::span<const Type> operands, std::span<const Type> results,
                                              const Location& location);

/// The processes of the call. Throws CompileError when the group is none of processes.
const ProcessGroup& processes_of(const Opaque& group, const CollectiveCall& call);

/// Runs the call, unless it is an effect that a repeated run takes from its log. Throws CompileError when the group is
/// not one of processes.
void run_collective(const Opaque& group, const CollectiveCall& call, const void* operand, void* result);

/// Starts the call, or runs it where effects are logged.
void start_collective(const Opaque& group, const CollectiveCall& call, const void* operand, void* result);
/// Completes the call with that result that this thread has started, if it is not complete.
void finish_collective(const void* result);
/// Completes all calls that this thread has started, whatever comes of them: the memory that they use is about to be
/// freed.
void abandon_collectives() noexcept;

using CollectivesList = TypeList<AllReduce, CollectiveReduce, CollectiveBroadcast, AllGather, CollectiveGather,
                                 CollectiveScatter, ReduceScatter, AllToAll, SendReceive, Send, Receive, CollectiveScan,
                                 Barrier, CollectivePermute, AxisIndex>;

}  // namespace calque::primitives
