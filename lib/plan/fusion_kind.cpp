#include "plan/plan.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// Limit on the operands and results of a loop. More than this neither fit in registers nor stay in the L1 cache, and
/// compiling a loop that carries them takes time quadratic in their number.
constexpr size_t kMostState = 512;

struct PerElement {
  const Shape& space;
  std::string* reason;
  bool has_tables = false;  ///< bodies may look up elements of loop-invariant arrays

  bool fail(const Equation& e, const char* why) const {
    if (reason) *reason = e.primitive() + " " + why;
    return false;
  }

  /// A reshape of the space that only changes size-1 dimensions, or a gather of one element of a loop-invariant table
  /// for each element of the space.
  bool looks_up(const Graph& g, const Equation& e, const std::vector<bool>& state) const {
    if (e.id() == id_of<Reshape>)
      return same_without_size_1_dims(g.shape(e.result()), space) &&
             same_without_size_1_dims(g.shape(e.operand(0)), space);
    return e.id() == id_of<Gather> && !state[e.operand(0).id()] && g.shape(e.result()) == space &&
           same_without_size_1_dims(g.shape(e.operand(1)), space);
  }
  static bool same_without_size_1_dims(const Shape& a, const Shape& b) {
    return without_size_1_dims(a) == without_size_1_dims(b);
  }

  /// Checks the equations of a body: those that depend on per-element state must be functions of one element.
  bool body(const Graph& g, size_t first_state) const {
    std::vector<bool> state(g.num_values(), false);
    for (size_t i = first_state; i < g.inputs().size(); ++i) state[g.inputs()[i].id()] = true;
    for (const Equation& e : g.equations()) {
      bool depends = false;
      for (Value v : e.operands()) depends = depends || state[v.id()];
      for (Value v : e.results()) state[v.id()] = depends;
      switch (fusion_kind_of(e)) {
        case FusionKind::elementwise:
          if (depends && g.shape(e.result()) != space) return fail(e, "works on another shape than the loop's state");
          break;
        case FusionKind::view:
          // A view of a scalar is a function of its only element.
          if (depends && space.rank() != 0 && !(has_tables && looks_up(g, e, state)))
            return fail(e, "moves elements of the loop's state");
          if (depends && space.rank() == 0 && g.shape(e.result()).num_elements() > 64)
            return fail(e, "broadcasts the loop's state to an array");
          break;
        case FusionKind::branch:
        case FusionKind::loop:
          if (space.rank() != 0) return fail(e, "is nested in a loop over elements");
          for (Value v : e.results())
            if (g.shape(v).rank() != 0) return fail(e, "inside has an array as its result");
          if (!runs_per_element(g, e, reason)) return false;
          break;
        default:
          return fail(e, "works across elements");
      }
    }
    return true;
  }
};

}  // namespace

FusionKind fusion_kind_of(const Equation& equation) { return rules(equation.id()).fusion_kind; }

bool runs_as_step(const Graph& graph, const Equation& e, FusionKind kind) {
  switch (kind) {
    case FusionKind::elementwise:
    case FusionKind::view:
    case FusionKind::reduction:
    case FusionKind::contraction:
    case FusionKind::anchor:
      return false;
    case FusionKind::loop:
      return e.id() != id_of<Scan> || !runs_per_element(graph, e);
    case FusionKind::routine:
    case FusionKind::branch:
    case FusionKind::effect:
      return true;
    case FusionKind::call:
      break;
  }
  throw CompileError("plan: " + e.primitive() + " is inlined before planning");
}

bool is_elementwise_loop(const Graph& graph, const Equation& e) {
  return e.id() == id_of<While> && runs_per_element(graph, e);
}

bool runs_per_element(const Graph& graph, const Equation& e, std::string* reason) {
  const auto say = [&](const char* why) {
    if (reason) *reason = e.primitive() + " " + why;
    return false;
  };
  const bool loops = e.id() == id_of<While> || e.id() == id_of<Scan>;
  if (loops && e.operands().size() + e.results().size() > kMostState) return say("carries too many values");
  switch (e.id()) {
    case id_of<While>: {
      const size_t cond_consts = static_cast<size_t>(e.attributes().integer("cond_consts"));
      const size_t body_consts = static_cast<size_t>(e.attributes().integer("body_consts"));
      const Graph& cond = e.subgraphs()[0];
      const Shape& space = cond.shape(cond.outputs()[0]);
      for (Value v : e.results())
        if (graph.shape(v) != space) return say("carries an array larger than its condition");
      const PerElement check{space, reason};
      return check.body(cond, cond_consts) && check.body(e.subgraphs()[1], body_consts);
    }
    case id_of<Scan>: {
      const size_t consts = static_cast<size_t>(e.attributes().integer("consts"));
      const size_t carry = static_cast<size_t>(e.attributes().integer("carry"));
      const Graph& body = e.subgraphs()[0];
      if (body.outputs().empty()) return say("has no results");
      const Shape space = body.shape(body.outputs()[0]);
      for (Value v : body.outputs())
        if (body.shape(v) != space) return say("carries and stacks values of different shapes");
      for (size_t i = consts; i < body.inputs().size(); ++i) {
        // Slices of xs need not have the loop's shape when the space is a scalar: they are then read by index.
        const Shape& s = body.shape(body.inputs()[i]);
        if (i < consts + carry ? s != space : space.rank() != 0 && s != space)
          return say("steps over slices of another shape than its carry");
      }
      return PerElement{space, reason, true}.body(body, consts);
    }
    case id_of<Cond>:
    case id_of<Switch>: {
      // Kernels support branches in scalar code only; elsewhere, a branch of the entry function costs no more.
      for (Value v : e.results())
        if (graph.shape(v).rank() != 0) return say("has an array as its result");
      const Shape scalar{};
      for (const Graph& branch : e.subgraphs())
        if (!PerElement{scalar, reason}.body(branch, 0)) return false;
      return true;
    }
    default:
      return false;
  }
}

}  // namespace calque::plan
