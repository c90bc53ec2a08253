# Language level, warnings, build types, sanitizers and the compiler launcher, for every target of this project.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
# Build time dominates development and the library itself is not numerical code: -O2 builds a third faster than -O3.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

find_program(CALQUE_CCACHE ccache)
if(CALQUE_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/compile_cached")
endif()

# A precompiled header fills g++'s heap beyond the size at which it collects garbage; that took a tenth of each compilation.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND PROJECT_IS_TOP_LEVEL)
  add_compile_options("SHELL:--param ggc-min-heapsize=1000000")
endif()

# There are some two hundred programs, which lld links in a fifth of the time.
find_program(CALQUE_LLD ld.lld)
mark_as_advanced(CALQUE_LLD)
if(CALQUE_LLD AND PROJECT_IS_TOP_LEVEL)
  add_link_options(-fuse-ld=lld)
endif()

# Usage requirements of every target of this project, not of its users.
add_library(calque_flags INTERFACE)
target_compile_features(calque_flags INTERFACE cxx_std_20)
target_compile_options(
  calque_flags
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            # The reference evaluator and the constant folder round every operation separately, on every target.
            -ffp-contract=off
            $<$<BOOL:${CALQUE_WERROR}>:-Werror>
            $<$<AND:$<CXX_COMPILER_ID:Clang>,$<BOOL:${CALQUE_CCACHE}>>:SHELL:-Xclang -fno-pch-timestamp>)

if(CALQUE_SANITIZE)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CALQUE_SANITIZE needs clang (CMAKE_CXX_COMPILER=clang++-22)")
  endif()
  set(sanitize "-fsanitize=${CALQUE_SANITIZE}")
  target_compile_options(calque_flags INTERFACE ${sanitize} -fno-omit-frame-pointer)
  target_link_options(calque_flags INTERFACE ${sanitize})
  if(CALQUE_SANITIZE MATCHES "undefined")
    # -fsanitize=function reads the bytes before a function's entry, which may be unmapped for generated code.
    target_compile_options(calque_flags INTERFACE -fno-sanitize-recover=undefined -fno-sanitize=function,null,object-size)
  endif()
endif()

# Additional flags of programs that use the library: tests, examples, the command-line tool. They are most of a build.
# AddressSanitizer checks the library, which keeps its optimisation level. (Not under ThreadSanitizer: files that are not
# instrumented rely on inlining, since they could otherwise be linked to another file's copy of an inline function.)
add_library(calque_program_flags INTERFACE)
target_link_libraries(calque_program_flags INTERFACE calque_flags)
if(CALQUE_SANITIZE MATCHES "address")
  target_compile_options(calque_program_flags INTERFACE -O0)
endif()
