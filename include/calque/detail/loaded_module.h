#pragma once
// The program or shared library that code was linked into. Compiled forms are keyed by addresses in it and refer to its
// code (destructors of results' trees, host functions), so they are dropped before a library is unloaded.
#include <cstdint>

namespace calque::detail {

/// The address range of a program or shared library. Its destructor runs when the library is unloaded, after those of
/// the library's other static objects, and drops every compiled form that refers to the library.
class LoadedModule {
 public:
  LoadedModule() noexcept;
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

 private:
  uintptr_t begin_ = 0, end_ = 0;  ///< empty for the program, which is never unloaded
};

/// One instance for each program and shared library: hidden visibility keeps the dynamic linker from merging them. It
/// is initialized before, hence destroyed after, every static object of a file that includes this header.
[[gnu::visibility("hidden")]] inline const LoadedModule this_module;

}  // namespace calque::detail
