#pragma once
// A C++ loop that tracing has unrolled becomes segments that differ only in where their values are and in constants.
#include <vector>

namespace llvm {
class Function;
}

namespace calque::codegen {

/// Merges similar segments, so that each is compiled once. A segment is `void segment(ptr frame)` of one block, called
/// once, that uses `frame` in `getelementptr i8, ptr frame, i64 constant` alone. Segments are similar if their
/// instructions differ in these offsets and in floating-point constants only. The merged function has the addresses of
/// groups of fields as parameters, and that of a table of the constants.
void merge_segments(const std::vector<llvm::Function*>& segments);

}  // namespace calque::codegen
