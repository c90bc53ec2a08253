#pragma once
// Where programs find their files when they run. No path is compiled into a test, so that objects in a compiler cache
// serve every folder that the project is checked out in.
#include <filesystem>
#include <string>

namespace calque::test {

/// The folder <build>/test, which the test programs, the stand-ins and the plug-ins are built in.
inline std::filesystem::path test_program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

/// A file that the build puts beside the test programs, such as "libstand_in_cuda.so".
inline std::string built_file(const std::string& name) { return (test_program_folder() / name).string(); }

/// A file of the source tree, by its path from the project's root; <build>/source is a link to it.
inline std::string source_file(const std::string& name) {
  return (test_program_folder().parent_path() / "source" / name).string();
}

/// The stand-in for CUDA's driver and cuBLASLt, and the one whose cuBLASLt refuses to start.
inline std::string stand_in_cuda() { return built_file("libstand_in_cuda.so"); }
inline std::string stand_in_refusing() { return built_file("libstand_in_refusing.so"); }

}  // namespace calque::test
