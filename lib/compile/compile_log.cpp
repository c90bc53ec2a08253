#include "compile/compile_log.h"

#include <atomic>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "runtime/process/environment.h"
#include "runtime/process/log.h"

namespace calque::runtime {

PassLog new_pass_log() {
  if (environment().dump.empty()) return PassLog();
  return PassLog([](std::string_view) { return true; });
}

void log_compilation(const std::string& title, const CompileReport& r) {
  if (!r.compiled || !logs_compilations()) return;
  const auto ms = [](double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); };
  std::string line = fmt::format("{}: {} equations, {} kernels, {} modules: trace {}, key {}", title, r.equations,
                                 r.kernels, r.passes.runs("machine-code"), ms(r.trace), ms(r.key));
  for (const PassLog::Entry& pass : r.passes.entries())
    if (pass.name != kTracePass.name) line += ", " + pass.name + " " + ms(pass.seconds);
  compile_log().info("{}, in all {} ms", line, ms(r.trace + r.total));
}

void dump_passes(const std::string& title, const PassLog& passes) {
  static std::atomic<int> files{0};
  static std::atomic<bool> failed{false};
  const std::filesystem::path folder = environment().dump;
  if (folder.empty() || failed) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const PassLog::Entry& pass : passes.entries()) {
    if (pass.text.empty()) continue;
    std::ofstream out(folder / fmt::format("{:02}-{}.txt", ++files, pass.name));
    out << "// " << title << ": after " << pass.name << "\n" << pass.text;
    if (out.flush()) continue;
    if (!failed.exchange(true)) log().warn("CALQUE_DUMP={}: cannot be written to", folder.string());
    return;
  }
}

}  // namespace calque::runtime
