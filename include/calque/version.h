#pragma once
// The version of the library, for programs that support several. CMakeLists.txt reads it from here.

/// The version of the library: three numbers for `#if`, and a string.
#define CALQUE_VERSION_MAJOR 0
#define CALQUE_VERSION_MINOR 1
#define CALQUE_VERSION_PATCH 0
#define CALQUE_VERSION "0.1.0"
