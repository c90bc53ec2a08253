#pragma once
// Long reductions and cumulative loops in two launches or three: pieces over the grid, then what the pieces make.
#include <functional>
#include <vector>

#include "kernel/schedule_gpu/instruction_copier.h"

namespace calque::kernel {

/// A loop cut into `pieces` of `length` iterations, and the rest that is shorter than `pieces`.
struct Cut {
  int64_t pieces = 0, length = 0;
  int64_t whole() const { return pieces * length; }
};

/// Where the results of pieces wait: buffer numbers by result, and in which element piece p of a nest's position is.
struct Partials {
  std::vector<int32_t> buffers;
  /// Emits the element's index for a piece.
  std::function<Id(Region& to, Id piece)> place;
};

/// In the region of one piece: reduces its iterations from nothing and stores the results at place(piece).
void reduce_piece(Copier& c, Region& to, const Instruction& loop, const Cut& cut, Id piece, const Partials& partials);
/// The whole reduction, from its initial values, the pieces' results and the iterations past the last piece.
void reduce_partials(Copier& c, Region& to, const Instruction& loop, const Cut& cut, const Partials& partials);

/// The same for cumulative loops: reduce_piece serves them too. This scans the pieces' results, leaves in each place
/// what comes before its piece, and runs the iterations past the last piece.
void scan_partials(Copier& c, Region& to, const Instruction& loop, const Cut& cut, const Partials& partials);
/// Runs the iterations of one piece.
void scan_piece(Copier& c, Region& to, const Instruction& loop, const Cut& cut, Id piece, const Partials& partials);

}  // namespace calque::kernel
