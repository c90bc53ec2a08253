#pragma once
// Programs that run themselves with other arguments or another environment, and temporary folders.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include <unistd.h>

namespace calque::test {

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

/// The path of this program.
inline std::string self() {
  std::string path(4096, '\0');
  const ssize_t n = ::readlink("/proc/self/exe", path.data(), path.size());
  if (n <= 0) fail("no path of the program");
  path.resize(static_cast<size_t>(n));
  return path;
}

/// The output of this program, run by a shell with these variables and arguments.
inline std::string run_self(const std::string& variables, const std::string& arguments) {
  FILE* const pipe = ::popen((variables + " '" + self() + "' " + arguments).c_str(), "r");
  if (pipe == nullptr) fail("no process");
  std::string text;
  char buffer[4096];
  while (const size_t got = std::fread(buffer, 1, sizeof(buffer), pipe)) text.append(buffer, got);
  if (::pclose(pipe) != 0) fail("the process failed");
  return text;
}

/// Splits off the last line.
inline std::pair<std::string, std::string> split_last_line(const std::string& text) {
  if (text.empty()) fail("the process has no output");
  const size_t end = text.rfind('\n', text.size() - 2) + 1;
  return {text.substr(0, end), text.substr(end)};
}

/// Removed at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / "calque-test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) fail("no temporary folder");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return std::filesystem::path(path_) / name; }

 private:
  std::string path_;
};

}  // namespace calque::test
