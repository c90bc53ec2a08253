# Tests that are not GoogleTest programs: scripts, snippets that must not compile, text tests, conformance, fuzzers.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(calque_tools "${PROJECT_SOURCE_DIR}/tools")

# test/tools/*_test.py: tests of the scripts under tools/, with the path of the command-line tool as argument.
file(GLOB scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/tools/*_test.py")
foreach(script IN LISTS scripts)
  cmake_path(GET script STEM name)
  if(CALQUE_SANITIZE AND name MATCHES "^(gpu_check|bench_devices)_test$")
    continue()  # of programs that are not instrumented, or that release runs
  endif()
  add_test(NAME tools.${name} COMMAND Python3::Interpreter "${script}" $<TARGET_FILE:calque_cli>)
  calque_set_test_environment(tools.${name})
endforeach()
# Mostly waits, so it starts early.
if(TEST tools.gpu_check_test)
  set_tests_properties(tools.gpu_check_test PROPERTIES COST 100)
endif()

# Code for newer processors stays apart in the linker.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  get_target_property(kind calque TYPE)
  if(kind STREQUAL "STATIC_LIBRARY")
    set(objects dense_v3 dense_v4)
    if(NOT CALQUE_SANITIZE)  # builds with sanitizers have one level of the others
      list(APPEND objects spectra_v3 spectra_v4 eig_v3 eig_v4)
    endif()
    add_test(NAME tools.symbols
             COMMAND Python3::Interpreter "${calque_tools}/check_symbols" $<TARGET_FILE:calque> ${objects})
  endif()
endif()

# test/compile_fail/**.cpp: each must fail to compile, its first error matching its `// EXPECT: regex` lines.
get_target_property(eigen_includes Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
list(TRANSFORM eigen_includes PREPEND -isystem)
set(calque_compile_command "${CMAKE_CXX_COMPILER}" -std=c++20 "-I${PROJECT_SOURCE_DIR}/include" ${eigen_includes})

# Parsing calque.h dominates the compile time of a snippet, so it is precompiled.
set(snippet_header "${PROJECT_BINARY_DIR}/test/snippet.h")
file(CONFIGURE OUTPUT "${snippet_header}" CONTENT "#include <calque/calque.h>\n")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(precompiled "${snippet_header}.pch")
  set(calque_snippet_header "-include-pch,${precompiled}")
else()
  set(precompiled "${snippet_header}.gch")
  set(calque_snippet_header "-include,${snippet_header}")
endif()
add_custom_command(
  OUTPUT "${precompiled}"
  COMMAND ${calque_compile_command} -x c++-header "${snippet_header}" -o "${precompiled}" -MD -MF "${precompiled}.d"
  DEPFILE "${precompiled}.d"
  VERBATIM)
add_custom_target(calque_snippet_header ALL DEPENDS "${precompiled}")

# calque_add_compile_fail(<name> <source> [EXPECT regex...] [FLAGS flag...])
function(calque_add_compile_fail name source)
  cmake_parse_arguments(PARSE_ARGV 2 fail "" "" "EXPECT;FLAGS")
  list(TRANSFORM fail_EXPECT PREPEND "--expect;")
  add_test(NAME compile_fail.${name}
           COMMAND Python3::Interpreter "${calque_tools}/check_compile_fail" ${fail_EXPECT}
                   "--header=${calque_snippet_header}" "${source}" --
                   ${calque_compile_command} ${fail_FLAGS})
  calque_set_test_environment(compile_fail.${name})
endfunction()

file(GLOB_RECURSE snippets CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/compile_fail/*.cpp")
foreach(snippet IN LISTS snippets)
  cmake_path(GET snippet STEM name)
  calque_add_compile_fail(${name} "${snippet}")
endforeach()

# test/spellings: every spelling of the interface with its type; spellings_native.cpp those of structs, Eigen types and
# functions. With NEG=n a file must not compile.
foreach(name IN ITEMS spellings spellings_native)
  set(spellings "${PROJECT_SOURCE_DIR}/test/spellings/${name}.cpp")
  add_executable(test_${name} "${spellings}")
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test")
  target_link_libraries(test_${name} PRIVATE calque::calque Eigen3::Eigen)
  # Its main function is empty, and results are dropped.
  target_compile_options(test_${name} PRIVATE -O0 -Wno-unused-result -Wno-unused-value)
  if(CALQUE_SANITIZE)
    target_compile_options(test_${name} PRIVATE "-fsanitize=${CALQUE_SANITIZE}")
    target_link_options(test_${name} PRIVATE "-fsanitize=${CALQUE_SANITIZE}")
  endif()
endforeach()
include("${PROJECT_SOURCE_DIR}/test/spellings/negatives.cmake")

# The examples in docstrings, compiled and run: tools/docstring_examples makes the sources from the headers. Not with
# sanitizers, since these test what the documentation says.
if(NOT CALQUE_SANITIZE)
  set(folder "${PROJECT_BINARY_DIR}/test/docstrings")
  set(parts 20)  # each compiles in a few seconds
  set(sources)
  math(EXPR last "${parts} - 1")
  foreach(part RANGE ${last})
    list(APPEND sources "${folder}/examples_${part}.cpp")
  endforeach()
  file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/calque/*.h"
       "${PROJECT_SOURCE_DIR}/include/calque/*.def" "${PROJECT_SOURCE_DIR}/include/calque/numpy/*.h")
  add_custom_command(
    OUTPUT ${sources}
    COMMAND Python3::Interpreter "${calque_tools}/docstring_examples" --generate "${folder}" ${parts}
    DEPENDS "${calque_tools}/docstring_examples" ${headers}
    VERBATIM)
  add_executable(docstring_examples "${PROJECT_SOURCE_DIR}/test/docstrings/main.cpp" ${sources})
  set_target_properties(docstring_examples PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test"
                                                      POSITION_INDEPENDENT_CODE OFF)
  target_link_libraries(docstring_examples PRIVATE calque_test_usage)
  if(CALQUE_TEST_PCH)
    target_precompile_headers(docstring_examples REUSE_FROM calque_test_main)
  endif()
  add_test(NAME docs.docstring_examples COMMAND docstring_examples)
  calque_set_test_environment(docs.docstring_examples)
endif()

# The programs on the pages of documentation, compiled and run: tools/page_programs makes a source of each page that has
# some.
if(NOT CALQUE_SANITIZE)
  file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/docs/*.md")
  set(folder "${PROJECT_BINARY_DIR}/test/pages")
  set(sources)
  set(with_programs)
  foreach(page IN LISTS pages)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${page}")
    file(STRINGS "${page}" marks REGEX "^<!-- run( with [a-z]+)? -->$" LIMIT_COUNT 1)
    if(marks)
      cmake_path(GET page STEM name)
      list(APPEND sources "${folder}/${name}.cpp")
      list(APPEND with_programs "${page}")
    endif()
  endforeach()
  add_custom_command(
    OUTPUT ${sources}
    COMMAND Python3::Interpreter "${calque_tools}/page_programs" --generate "${folder}"
    DEPENDS "${calque_tools}/page_programs" ${with_programs}
    VERBATIM)
  add_executable(page_programs "${PROJECT_SOURCE_DIR}/test/pages/main.cpp" ${sources})
  set_target_properties(page_programs PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test")
  target_include_directories(page_programs PRIVATE "${PROJECT_SOURCE_DIR}/test")
  target_link_libraries(page_programs PRIVATE calque::calque Eigen3::Eigen)
  if(TARGET calque::ceres)
    target_link_libraries(page_programs PRIVATE calque::ceres)
    target_compile_definitions(page_programs PRIVATE CALQUE_WITH_CERES)
  endif()
  if(TARGET calque::mpi)
    target_link_libraries(page_programs PRIVATE calque::mpi)
    target_compile_definitions(page_programs PRIVATE CALQUE_WITH_MPI)
  endif()
  target_compile_options(page_programs PRIVATE -O0 -Wno-unused-result -Wno-unused-value)
  add_test(NAME docs.page_programs COMMAND Python3::Interpreter "${calque_tools}/page_programs"
                                           $<TARGET_FILE:page_programs>)
  calque_set_test_environment(docs.page_programs)
endif()

# The site of the documentation can be made: each public name has a docstring, each link leads somewhere. The script finds
# its interpreter itself, since Debian's Python has the packages that it needs.
if(NOT CALQUE_SANITIZE)
  add_test(NAME docs.site COMMAND "${calque_tools}/site" --check)
  calque_set_test_environment(docs.site)
endif()

# What the gallery says of the plans of examples.
if(CALQUE_EXAMPLES AND NOT CALQUE_SANITIZE)
  add_test(NAME docs.plans COMMAND Python3::Interpreter "${calque_tools}/check_plans" "${PROJECT_BINARY_DIR}/examples")
  calque_set_test_environment(docs.plans)
endif()

# test/**/*.jaxpr with `RUN:` lines: each line is a shell command (%s the file, %t a scratch file, calque and FileCheck
# by name) that must succeed.
if(TARGET calque_cli)
  find_program(CALQUE_FILECHECK NAMES FileCheck-22 FileCheck HINTS "${LLVM_TOOLS_BINARY_DIR}" REQUIRED)
  file(GLOB_RECURSE texts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/*.jaxpr")
  foreach(text IN LISTS texts)
    file(STRINGS "${text}" run_lines REGEX "RUN: ")
    if(run_lines)
      cmake_path(RELATIVE_PATH text BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/test" OUTPUT_VARIABLE name)
      add_test(NAME text.${name} COMMAND Python3::Interpreter "${calque_tools}/run_text_test" "${text}"
                                         $<TARGET_FILE:calque_cli> "${CALQUE_FILECHECK}")
      calque_set_test_environment(text.${name})
    endif()
  endforeach()

  # test/conformance/*.jsonl: every case, on the reference evaluator and on the CPU.
  file(GLOB cases CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/conformance/*.jsonl")
  foreach(file IN LISTS cases)
    cmake_path(GET file STEM name)
    foreach(device reference cpu gpu_sim)
      add_test(NAME conformance.${name}.${device} COMMAND calque_cli conformance --device ${device} "${file}")
      calque_set_test_environment(conformance.${name}.${device})
    endforeach()
  endforeach()
endif()

# test/fuzz/<x>_fuzz.cpp: a libFuzzer program, run for a limited time on the seeds in test/fuzz/corpus/<x>.
if(CALQUE_FUZZ)
  set(CALQUE_FUZZ_SECONDS 20 CACHE STRING "Seconds that each fuzzer runs in a test")
  file(GLOB fuzzers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/fuzz/*_fuzz.cpp")
  foreach(source IN LISTS fuzzers)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "_fuzz$" "" name "${stem}")
    add_executable(fuzz_${name} "${source}")
    set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test")
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_include_directories(fuzz_${name} PRIVATE "${PROJECT_SOURCE_DIR}/lib" "${PROJECT_SOURCE_DIR}/test")
    target_link_libraries(fuzz_${name} PRIVATE calque_flags calque::calque calque_private_dependencies)
    set(found "${PROJECT_BINARY_DIR}/test/corpus/${name}")
    file(MAKE_DIRECTORY "${found}")
    set(seeds "${PROJECT_SOURCE_DIR}/test/fuzz/corpus/${name}")
    if(NOT IS_DIRECTORY "${seeds}")
      set(seeds)
    endif()
    add_test(NAME fuzz.${name} COMMAND fuzz_${name} -max_total_time=${CALQUE_FUZZ_SECONDS} -timeout=30 -seed=1
                                       -print_final_stats=1 -verbosity=0 "${found}" ${seeds})
    calque_set_test_environment(fuzz.${name})
  endforeach()
endif()
