// A tour on real input, in three parts: a first program with its graph, plan and assembly; handwritten digits learned
// by gradient descent with automatic derivatives; the Mandelbrot set as a picture. The exit status is 0 if the results
// are right. Writes mandelbrot.png into the current directory.
//   tour DIGITS.csv
#include <cstdlib>
#include <exception>
#include <iostream>

#include "tour/digits.h"
#include "tour/mandelbrot.h"
#include "tour/program.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: tour DIGITS.csv (examples/data/digits.csv)\n";
    return EXIT_FAILURE;
  }
  try {
    bool right = tour::program();
    right &= tour::digits(argv[1]);
    right &= tour::mandelbrot("mandelbrot.png");
    std::cout << (right ? "\nThe tour's results are right.\n" : "\nThe tour's results are WRONG.\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << "tour: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
