// Runs the examples in the docstrings of the headers and compares what they print with what the docstrings say.
//   docstring_examples            reports the differences
//   docstring_examples --print    prints what tools/docstring_examples --update writes into the headers
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "support/docstring_examples.h"

namespace {

using calque::test::Example;

/// Docstrings hold no spaces at the ends of lines.
std::string without_trailing_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out.erase(out.find_last_not_of(' ') + 1);
    out += c;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::string printed_by(const Example& e) {
  try {
    return without_trailing_spaces(e.printed());
  } catch (const std::exception& error) {
    return std::string("exception: ") + error.what();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool print = argc > 1 && std::string_view(argv[1]) == "--print";
  int wrong = 0;
  for (const Example& e : calque::test::examples()) {
    const std::string text = printed_by(e);
    if (print) {
      std::cout << '@' << e.header << ':' << e.line << "\n ";
      for (const char c : text) std::cout << (c == '\n' ? "\n " : std::string(1, c));
      std::cout << '\n';
    } else if (text != e.expected) {
      ++wrong;
      std::cout << e.header << ':' << e.line << ": " << e.code << " prints\n"
                << text << "\nnot\n"
                << e.expected << '\n';
    }
  }
  if (print) return 0;
  std::cout << "docstring_examples: " << wrong << " of " << calque::test::examples().size() << " examples differ\n";
  return wrong != 0 || calque::test::examples().empty() ? 1 : 0;
}
