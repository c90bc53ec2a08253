#pragma once
// What the rules of control flow and calls share.
//
// Forward mode: primals and tangents run through the same branch or loop. A carry has a tangent if its initial value
// has one or the body produces one; the set of these is a fixpoint. Transposition, of what is linear in its tangents:
// branches are transposed, scans run in reverse, with an accumulator in the carry for each linear constant. Batching: a
// cond with a batched predicate becomes a select of both branches, a while with a batched condition becomes a loop per
// element; all other control flow stays one branch or loop over batched values. The set of batched carries is a
// fixpoint.
#include <span>
#include <string_view>
#include <vector>

#include "primitives/control/loop_parts.h"

namespace calque::primitives {

/// The types of the operands in [first, end), or from `first` on.
std::vector<Type> operand_types(const Typing& t, size_t first, size_t end);
std::vector<Type> operand_types(const Typing& t, size_t first = 0);

std::vector<Type> concatenated(std::vector<Type> a, const std::vector<Type>& b);

/// Adds results of these types.
void add_results(Typing& t, const std::vector<Type>& types);

/// Typing of a call of the first sub-graph.
void infer_call(Typing& t);

/// The integer attribute of that name, which must be in [0, limit].
size_t count_attribute(const Typing& t, std::string_view attribute, size_t limit);

/// The carry must have the same types as the body's input and output.
void match_carry(const Typing& t, std::span<const Type> in, std::span<const Type> out);

/// Evaluation of a call of the first sub-graph.
void call_body(Evaluation& e);

/// Takes over the results of an equation that returns all primal results, then the tangents of the active ones.
void take_results(Jvp& j, const Equation& e, const std::vector<bool>& active);

/// Appends a tangent for each marked operand from `first` on, zero where the operand itself has none.
void append_tangents(const Jvp& j, ValueList& operands, size_t first, const std::vector<bool>& mask);

/// Appends `count` operands from `first` on.
void append_primals(const Jvp& j, ValueList& operands, size_t first, size_t count);

/// Grows the set of active carries to a fixpoint, given the activity of the other inputs of the body. Returns the
/// activity of the body's outputs.
std::vector<bool> active_carry(const Jvp& j, const Graph& body, const std::vector<bool>& consts,
                               std::vector<bool>& carry, const std::vector<bool>& xs);

/// Which of `count` operands from `first` on the equation is linear in.
std::vector<bool> linear_mask(const Transposition& t, size_t first, size_t count);

/// Which results have cotangents.
std::vector<bool> given_mask(const Transposition& t);

/// Batches all branches such that they agree on which results are batched.
std::vector<Graph> batched_branches(Batching& b, const std::vector<bool>& inputs, std::vector<bool>& outputs);

std::vector<bool> concatenated(std::vector<bool> a, const std::vector<bool>& b, const std::vector<bool>& c);

/// The batched body of a loop. Grows the set of batched carries to a fixpoint and sets `outputs` to the batched
/// outputs.
Graph batched_loop(const Batching& b, const Graph& body, const std::vector<bool>& consts, std::vector<bool>& carry,
                   const std::vector<bool>& xs, std::vector<bool>& outputs);

/// Executes an equation with an effect once per example, in order, by a scan over the examples. Of several effects, the
/// first is executed for all examples before the second.
void batch_one_by_one(Batching& b);

}  // namespace calque::primitives
