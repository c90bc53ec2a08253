#pragma once
// Calls of functions whose branches follow the data.
#include "primitives/control/effects.h"
#include "runtime/call/function_state.h"

namespace calque::runtime {

/// The entry of the first call of a signature: an ordinary one for a function that asks nothing of its tracers.
/// `effects` are those that happen meanwhile, which the call must not repeat.
std::shared_ptr<CallEntry> make_branch_entry(const detail::FunctionState& function, const detail::Arguments& arguments,
                                             const detail::CallSite& site, Device device,
                                             primitives::EffectLog& effects);

/// Runs the program of the path that the arguments take: extends the tree of the entry if it is not known yet.
void call_branches(const detail::FunctionState& function, const CallEntry& entry, detail::Arguments& arguments,
                   const detail::CallSite& site, primitives::EffectLog& effects, detail::CallResult& result);

/// The graph of a function for inspection or compilation: with `branches::trace` as `trace_closed` has it.
Traced trace_for(const detail::FunctionState& function, detail::Arguments& arguments, const detail::CallSite& site,
                 std::string_view what);

/// A graph that answers all questions by itself: of the paths that calls have taken, with this one. Throws CompileError
/// that names a question of which only one answer is known, or paths whose results differ.
Traced trace_closed(const detail::FunctionState& function, detail::Arguments& arguments, const detail::CallSite& site,
                    std::string_view what);

}  // namespace calque::runtime
