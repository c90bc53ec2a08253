// The command-line tool: text graphs in, text, values or code out; and the runner of conformance cases. Exit status: 0
// on success, 1 when a check fails (a case, a difference found by `run --check`), 2 for wrong input, 100 and above for
// a wrong command line. Errors are one line on standard error.
#include <exception>
#include <iostream>

#include "calque/commands.h"

int main(int argc, char** argv) {
  CLI::App app("Looks into, lowers and runs graphs of the Calque library, and checks its answers", "calque");
  app.require_subcommand(1);
  int status = 0;
  calque::cli::add_opt(app, status);
  calque::cli::add_run(app, status);
  calque::cli::add_lower(app, status);
  calque::cli::add_conformance(app, status);
  calque::cli::add_info(app, status);
  calque::cli::add_bench(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::cerr << "calque: " << e.what() << '\n';
    return 2;
  }
  return status;
}
