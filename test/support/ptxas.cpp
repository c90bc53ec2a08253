// ptxas only reads and writes files, so both are temporary files of this process.
#include "support/ptxas.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <unistd.h>

namespace calque::test {

namespace fs = std::filesystem;

std::optional<std::string> find_ptxas() {
  static const std::optional<std::string> found = []() -> std::optional<std::string> {
    std::vector<std::string> folders;
    if (const char* path = std::getenv("PATH")) {
      std::stringstream all(path);
      for (std::string folder; std::getline(all, folder, ':');) folders.push_back(folder);
    }
    folders.push_back("/usr/local/cuda/bin");
    for (const std::string& folder : folders) {
      const fs::path file = fs::path(folder) / "ptxas";
      if (access(file.c_str(), X_OK) == 0) return file.string();
    }
    return std::nullopt;
  }();
  return found;
}

namespace {

struct CommandResult {
  int status = 0;
  std::string output;
};

CommandResult run_command(const std::string& command) {
  CommandResult result;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return {-1, "cannot run " + command};
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, n);
  result.status = pclose(pipe);
  return result;
}

std::vector<AssembledKernel> kernels_of(const std::string& messages) {
  static const std::regex entry("Compiling entry function '([^']*)'");
  static const std::regex frame("(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
  static const std::regex registers("Used (\\d+) registers");
  static const std::regex shared("(\\d+) bytes smem");
  std::vector<AssembledKernel> kernels;
  std::stringstream lines(messages);
  std::smatch m;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, m, entry)) kernels.push_back({.name = m[1]});
    if (kernels.empty()) continue;
    AssembledKernel& k = kernels.back();
    if (std::regex_search(line, m, frame)) {
      k.stack_bytes = std::stoi(m[1]);
      k.spill_stores = std::stoi(m[2]);
      k.spill_loads = std::stoi(m[3]);
    }
    if (std::regex_search(line, m, registers)) k.registers = std::stoi(m[1]);
    if (std::regex_search(line, m, shared)) k.shared_bytes = std::stoi(m[1]);
  }
  return kernels;
}

}  // namespace

Assembled assemble(const std::string& ptx, const std::string& arch) {
  static std::atomic<int> count{0};
  const fs::path stem =
      fs::temp_directory_path() / ("calque_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  const std::string source = stem.string() + ".ptx", target = stem.string() + ".cubin";
  std::ofstream(source) << ptx;
  const CommandResult result = run_command(*find_ptxas() + " -v -arch=" + arch + " -o " + target + " " + source);
  std::error_code ignored;
  fs::remove(source, ignored);
  fs::remove(target, ignored);
  return {result.status == 0, result.output, kernels_of(result.output)};
}

std::string ptxas_complaint(const std::string& ptx, const std::string& arch) {
  if (!find_ptxas()) return "";
  const Assembled assembled = assemble(ptx, arch);
  if (!assembled.accepted) return "ptxas refuses it for " + arch + ":\n" + assembled.messages + ptx;
  for (const AssembledKernel& k : assembled.kernels)
    if (k.stack_bytes != 0 || k.spill_stores != 0 || k.spill_loads != 0)
      return k.name + " for " + arch + " uses local memory: " + std::to_string(k.stack_bytes) + " bytes of stack, " +
             std::to_string(k.spill_stores) + " of spills";
  return "";
}

}  // namespace calque::test
