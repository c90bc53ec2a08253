// Runs the programs of the pages of documentation; tools/page_programs compares what they print with the pages.
#include <cstdlib>
#include <exception>
#include <iostream>

#include "support/page_programs.h"

#ifdef CALQUE_WITH_MPI
#include "calque/mpi.h"
#endif

namespace {

/// MPI can't be started twice in a process, so it runs while the programs' sessions come and go.
class RunningMpi {
#ifdef CALQUE_WITH_MPI
 public:
  RunningMpi() {
    int threads = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads);
  }
  ~RunningMpi() { MPI_Finalize(); }
#endif
};

}  // namespace

int main() {
  [[maybe_unused]] const RunningMpi mpi;
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
