#include "calque/files.h"

#include <fstream>
#include <iostream>
#include <iterator>

#include "calque/ir/errors.h"

namespace calque::cli {

std::string read_text(const std::string& path) {
  const auto all_of = [](std::istream& in) { return std::string(std::istreambuf_iterator<char>(in), {}); };
  if (path == "-") return all_of(std::cin);
  std::ifstream in(path, std::ios::binary);
  if (!in || in.peek() == std::ifstream::traits_type::eof()) throw Error(path + ": cannot be read, or is empty");
  return all_of(in);
}

Graph read_graph(const std::string& path) {
  const std::string text = read_text(path);
  try {
    Graph graph = parse(text);
    graph.verify("parse");
    return graph;
  } catch (const ParseError& e) {
    throw ParseError(path + ": " + e.what());
  } catch (const Error& e) {
    throw Error(path + ": " + e.what());
  }
}

void write_text(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    std::cout << text << std::flush;
    if (!std::cout) throw Error("standard output cannot be written");
    return;
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw Error(path + ": cannot be written");
}

}  // namespace calque::cli
