#pragma once
// Reads and writes graph files, with errors that name the file.
#include <string>

#include "calque/ir/graph.h"

namespace calque::cli {

/// The contents of a file, or of standard input for `-`. Throws Error when it cannot be read or is empty.
std::string read_text(const std::string& path);
/// The graph of a text file, or of standard input for `-`; verified. Throws Error when it cannot be read, ParseError
/// (file, line and column) when its text is malformed, Error that names the file when it breaks a rule.
Graph read_graph(const std::string& path);
/// Writes `text` to a file, or to standard output when the path is empty or `-`. Throws Error.
void write_text(const std::string& path, const std::string& text);

}  // namespace calque::cli
