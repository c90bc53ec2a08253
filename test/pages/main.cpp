// Runs the programs of the pages of documentation; tools/page_programs compares what they print with the pages.
#include <cstdlib>
#include <exception>
#include <iostream>

#include "support/page_programs.h"

int main() {
  for (const calque::test::Page& page : calque::test::pages_with_programs()) {
    std::cout << "\x01page " << page.name << '\n';
    try {
      page.run();
    } catch (const std::exception& error) {
      std::cout << '\n' << page.name << ": exception: " << error.what() << '\n';
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
