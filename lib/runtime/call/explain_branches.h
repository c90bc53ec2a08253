#pragma once
// What calls have found out about the branches of a function: as text for `explain`, and as a drawing.
#include <iosfwd>
#include <string>
#include <vector>

#include "calque/branches.h"

#include "runtime/call/trace_tree.h"

namespace calque::runtime {

/// A line for each question of the C++ code: where, what is asked, the answers that calls have given, the exits that
/// are open; then the limits that are reached. `arguments` are the names of the function's leaves.
void explain_branches(std::ostream& out, const TraceTree& tree, const std::vector<std::string>& arguments,
                      const TraceLimits& limits);

/// The same as a graph for Graphviz: a hexagon for each question, a box for the operations between two of them, and a
/// dashed edge to each exit. Functions of results of other types have graphs beside it.
std::string branches_dot(const TraceTree& tree, const std::vector<std::string>& arguments, const std::string& title);

}  // namespace calque::runtime
