#pragma once
// The program or shared library that code was linked into. Compiled forms are found by addresses in it and hold code of
// it (destructors of results' trees, host functions): when a library is unloaded, they go first.
#include <cstdint>

namespace calque::detail {

/// Where a program or shared library is mapped. Its destructor runs when the library is unloaded, after those of the
/// library's own static objects, and drops every compiled form that refers to the library.
class LoadedModule {
 public:
  LoadedModule() noexcept;
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

 private:
  uintptr_t begin_ = 0, end_ = 0;  ///< empty for the program, which stays
};

/// One for each program and shared library: hidden, so that the dynamic linker does not make one of several. It is
/// initialized before, hence destroyed after, every static object of a file that includes this one.
[[gnu::visibility("hidden")]] inline const LoadedModule this_module;

}  // namespace calque::detail
