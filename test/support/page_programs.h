#pragma once
// The programs of pages: tools/page_programs generates a function for each page, and test/pages/main.cpp runs them.
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "support/docstring_examples.h"

namespace calque::test {

struct Page {
  std::string_view name;
  std::function<void()> run;
};

inline std::vector<Page>& pages_with_programs() {
  static std::vector<Page> all;
  return all;
}

inline bool add_page(std::string_view name, std::function<void()> run) {
  pages_with_programs().push_back({name, std::move(run)});
  return true;
}

/// Begins a program: what follows is its output. The marks are lines that tools/page_programs reads.
inline void page_program(int line) { std::cout << "\n\x01program " << line << '\n'; }

inline void page_value(int line, std::string_view text) {
  std::cout << "\n\x01value " << line << '\n' << text << "\n\x01" << "end" << std::endl;
}
template <class T>
  requires(!std::convertible_to<const T&, std::string_view>)
void page_value(int line, const T& x) {
  page_value(line, text_of(x));
}

}  // namespace calque::test
