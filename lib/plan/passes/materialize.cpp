// Which values must have memory whatever fuses: a kernel's results that others read as arrays, and operands that an
// operation reads several times or in an order of its own.
#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "plan/analysis/equations.h"
#include "plan/analysis/product_operands.h"
#include "plan/analysis/update_reads.h"
#include "plan/passes/passes.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

class RequiredValues {
 public:
  RequiredValues(const GraphAnalysis& analysis, Remarks& remarks)
      : a_(analysis), g_(a_.graph), remarks_(remarks), values_(g_) {}

  MaterializedValues run() {
    require(g_.outputs());
    for (size_t i = 0; i < a_.order.size(); ++i) visit(a_.order[i], a_.order.kind(i));
    for (const Overwriting& o : a_.in_place.overwritings) require_before(o);
    return std::move(values_);
  }

 private:
  template <class Values>
  void require(const Values& all) {
    for (const Value v : all) values_.require(v);
  }

  void visit(const Equation& e, FusionKind kind) {
    switch (kind) {
      case FusionKind::elementwise:
      case FusionKind::view:
        break;
      case FusionKind::reduction:
        // Unless it is fused with its user later.
        if (!is_short_reduction(g_, e)) values_.materialize(e.result());
        break;
      case FusionKind::contraction:
        contraction(e);
        break;
      case FusionKind::anchor:
        require(e.results());
        if (rules(e.id()).anchor == Anchor::scatter) {
          values_.require(e.operand(0));
          values_.require(e.operand(1));
        }
        break;
      case FusionKind::loop:
      case FusionKind::branch:
        control_flow(e, kind);
        break;
      case FusionKind::routine:
      case FusionKind::call:
      case FusionKind::effect:
        require(e.operands());
        require(e.results());
        break;
    }
    if (const int update = rules(e.id()).update_operand; update >= 0)
      require_update(e, e.operand(static_cast<size_t>(update)));
  }

  void contraction(const Equation& e) {
    values_.require(e.result());
    for (const Value v : e.operands()) {
      if (values_.is_plain_load(v) || is_prologue(a_, values_, e, v)) continue;
      values_.require(v);
      remark_operand(e, v);
    }
  }

  /// Records why an operand of a product is not computed in the product's kernel.
  void remark_operand(const Equation& e, Value v) {
    const Equation& operand = *g_.definition(v);
    const std::string what = operand.primitive() + " is not computed as " + e.primitive() + " reads it: ";
    if (a_.product(e) == Product::dot_products) {
      remarks_.add(what + "each element is read for several elements of the result");
    } else if (!a_.has_one_use(v)) {
      remarks_.add(what + "it is used more than once");
    } else if (a_.kind(operand) != FusionKind::elementwise || operand.id() == id_of<While>) {
      remarks_.add(what + "it is not a function of single elements");
    } else if (has_loops_or_calls(g_, operand)) {
      remarks_.add(what + "some arguments need a call");
    }
  }

  void control_flow(const Equation& e, FusionKind kind) {
    std::string reason;
    // A scan that runs per element still reads and writes memory in its steps; a while is elementwise by now.
    const bool inside = e.id() == id_of<Scan> && runs_per_element(g_, e, &reason);
    if (!inside) {
      require(e.operands());
      if (e.id() == id_of<While>) runs_per_element(g_, e, &reason);
      if (kind == FusionKind::loop) remarks_.add(e.primitive() + " runs in the entry function: " + reason);
    }
    require(e.results());
  }

  /// An update of an input, such as a loop's carry, can be written in place if computing it does not read the input. A
  /// small update that is computed from the input is therefore materialized first.
  void require_update(const Equation& e, Value update) {
    constexpr size_t kFar = 256;
    const Value x = e.operand(0);
    const int64_t size = g_.shape(update).num_elements();
    if (g_.kind(x) != ValueKind::input || g_.kind(update) != ValueKind::result || size <= 1) return;
    if (!a_.is_output(e.result()) || size > g_.shape(x).num_elements() / 2) return;
    std::vector<Value> found{update};
    for (size_t i = 0; i < found.size() && found.size() < kFar; ++i) {
      if (found[i] == x) return values_.require(update);
      if (!values_.is_inlined(found[i])) continue;
      for (const Value o : g_.definition(found[i])->operands())
        if (std::find(found.begin(), found.end(), o) == found.end()) found.push_back(o);
    }
  }

  /// What reads an array before it is overwritten, and is read after that, has memory of its own.
  void require_before(const Overwriting& o) {
    const size_t at = a_.order.position(*o.equation);
    const int update = rules(o.equation->id()).update_operand;
    if (update >= 0) {
      values_.require(o.operand);
      values_.require(o.result);
    }
    // One element is computed entirely before it is written, and each of several if it reads no others.
    UpdateReads reads(g_, *o.equation, [&](Value v) { return !values_.is_inlined(v); });
    if (o.equation->id() == id_of<DynamicUpdateSlice> && reads.is_in_step(o.equation->operand(1)))
      require_epilogue(o.equation->operand(1));
    const bool reads_while_writing = update >= 0 &&
                                     g_.shape(o.equation->operand(static_cast<size_t>(update))).num_elements() > 1 &&
                                     !reads.all_in_step();
    std::vector<Value> readers{o.operand};               // values that are computed from the array where they are used
    std::unordered_set<uint32_t> known{o.operand.id()};  // ids
    std::vector<Value> late;
    for (size_t n = 0; n < readers.size(); ++n) {
      const Value v = readers[n];
      bool is_late = false;
      for (const Equation* user : a_.users(v)) {
        const size_t position = a_.order.position(*user);
        is_late = is_late || (n > 0 && (position > at || (position == at && reads_while_writing)));
        if (position >= at || !is_deferred(*user)) continue;
        for (const Value r : user->results())
          if (!values_.is_required(r) && known.insert(r.id()).second) readers.push_back(r);
      }
      if (is_late) late.push_back(v);
    }
    require_parts(std::move(late), o.operand, known);
  }
  /// What an update writes, if it is computed of the elements of a product that nothing else reads: as the epilogue of
  /// the product, whose kernel may write it (StoredWindow).
  void require_epilogue(Value v) {
    if (g_.kind(v) != ValueKind::result || !a_.has_one_use(v)) return;
    std::vector<Value> found{v};
    constexpr size_t kFar = 16;
    for (size_t n = 0; n < found.size() && found.size() < kFar; ++n) {
      const Equation& e = *g_.definition(found[n]);
      if (a_.kind(e) == FusionKind::contraction) {
        if (a_.product(e) != Product::dot_products && a_.has_one_use(found[n])) values_.require(v);
        return;
      }
      if (a_.kind(e) != FusionKind::elementwise && e.id() != id_of<Reshape>) continue;
      for (const Value o : e.operands())
        if (g_.kind(o) == ValueKind::result && g_.shape(o).num_elements() == g_.shape(v).num_elements())
          found.push_back(o);
    }
  }
  bool is_deferred(const Equation& e) const {
    const FusionKind kind = a_.kind(e);
    return kind != FusionKind::anchor && !runs_as_step(g_, e, kind);
  }

  /// Requires the values, or what they are computed from if that is smaller. All are computed from x by values in
  /// `readers`.
  void require_parts(std::vector<Value> late, Value x, const std::unordered_set<uint32_t>& readers) {
    while (!late.empty()) {
      const Value v = late.back();
      late.pop_back();
      std::vector<Value> parts;
      int64_t elements = 0;
      bool reads_x = false;
      for (const Value o : g_.definition(v)->operands()) {
        reads_x = reads_x || o == x;
        if (o == x || !readers.contains(o.id()) || values_.is_required(o)) continue;
        parts.push_back(o);
        elements += g_.shape(o).num_elements();
      }
      if (!reads_x && !parts.empty() && elements < g_.shape(v).num_elements()) {
        late.insert(late.end(), parts.begin(), parts.end());
      } else {
        values_.require(v);
      }
    }
  }

  const GraphAnalysis& a_;
  const Graph& g_;
  Remarks& remarks_;
  MaterializedValues values_;
};

}  // namespace

MaterializedValues materialize(const GraphAnalysis& analysis, Remarks& remarks) {
  return RequiredValues(analysis, remarks).run();
}

}  // namespace calque::plan
