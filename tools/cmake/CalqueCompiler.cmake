# Language level, warnings, build types, sanitizers and the compiler launcher, for every target of this project.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
# Compiling is most of the waiting here and the library is not numerical code itself: -O2 builds a third faster.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

# Precompiled headers defeat ccache unless it is told that they hold no time and date macros that matter.
find_program(CALQUE_CCACHE ccache)
if(CALQUE_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_NOHASHDIR=1;${CALQUE_CCACHE}"
  )
endif()

# Usage requirements that every target of this project (and none of its users) compiles with.
add_library(calque_flags INTERFACE)
target_compile_features(calque_flags INTERFACE cxx_std_20)
target_compile_options(
  calque_flags
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            # The reference evaluator and the constant folder round every operation by itself, on every target.
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
    # -fsanitize=function reads the bytes before a function's entry: before generated code there may be no page.
    target_compile_options(calque_flags INTERFACE -fno-sanitize-recover=undefined -fno-sanitize=function)
  endif()
endif()

# What programs of this project that use the library compile with beside that: tests, examples, the command-line tool.
# They are most of a build. AddressSanitizer looks at the library, which keeps its level of optimisation. (Under
# ThreadSanitizer files that are not instrumented rely on inlining: else they might be linked to what another one has
# of an inline function.)
add_library(calque_program_flags INTERFACE)
target_link_libraries(calque_program_flags INTERFACE calque_flags)
if(CALQUE_SANITIZE MATCHES "address")
  target_compile_options(calque_program_flags INTERFACE -O0)
endif()
