#include "compile/compile_log.h"

#include <atomic>
#include <exception>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>

#include "compile/executable.h"
#include "ir/log.h"
#include "runtime/process/environment.h"

namespace calque::runtime {

PassLog new_pass_log() {
  if (environment().dump.empty()) return PassLog();
  return PassLog([](std::string_view pass) {
    const std::string& only = environment().dump_after;
    return only.empty() || pass == only;
  });
}

std::string title_of(const CompileReport& report, const Graph& graph) {
  if (!report.title.empty()) return report.title;
  return graph.name().empty() ? "graph" : graph.name();
}

void log_compilation(const std::string& title, const CompileReport& r) {
  if (!r.compiled || !logs_compilations()) return;
  const auto ms = [](double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); };
  if (r.load > 0) {
    return compile_log().info("{}: {} equations, {} kernels, from disk: trace {}, key {}, load {}, in all {} ms", title,
                              r.equations, r.kernels, ms(r.trace), ms(r.key), ms(r.load), ms(r.trace + r.total));
  }
  std::string line = fmt::format("{}: {} equations, {} kernels, {} modules: trace {}, key {}", title, r.equations,
                                 r.kernels, r.passes.runs("machine-code"), ms(r.trace), ms(r.key));
  for (const PassLog::Entry& pass : r.passes.entries())
    if (pass.name != kTracePass.name) line += ", " + pass.name + " " + ms(pass.seconds);
  compile_log().info("{}, in all {} ms", line, ms(r.trace + r.total));
}

namespace {

std::vector<const PassLog::Entry*> with_text(const PassLog& passes) {
  std::vector<const PassLog::Entry*> entries;
  for (const PassLog::Entry& entry : passes.entries())
    if (!entry.text.empty()) entries.push_back(&entry);
  return entries;
}

/// How a comment begins in a graph or kernel, in LLVM IR, in assembly.
std::string_view comment_of(std::string_view text) {
  if (text.starts_with(';')) return "; ";
  return text.starts_with("\t.") ? "# " : "// ";
}

void write_passes(const std::string& title, const PassLog& passes) {
  static std::atomic<int> files{0};
  static std::atomic<bool> failed{false};
  const std::filesystem::path folder = environment().dump;
  if (folder.empty() || failed) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto entries = with_text(passes);
  int number = files.fetch_add(static_cast<int>(entries.size()));  // consecutive, whatever else is being compiled
  for (const PassLog::Entry* pass : entries) {
    std::ofstream out(folder / fmt::format("{:02}-{}.txt", ++number, pass->name));
    out << comment_of(pass->text) << title << ": after " << pass->name << "\n" << pass->text;
    if (out.flush()) continue;
    if (!failed.exchange(true)) library_log().warn("CALQUE_DUMP={}: cannot be written to", folder.string());
    return;
  }
}

}  // namespace

void dump_passes(const std::string& title, const PassLog& passes) noexcept {
  try {
    write_passes(title, passes);
  } catch (const std::exception& e) {
    library_log().warn("CALQUE_DUMP: {}", e.what());
  }
}

}  // namespace calque::runtime
