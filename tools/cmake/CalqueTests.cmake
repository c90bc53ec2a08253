# test/<x>/*_test.cpp: the executable test_<x>. ctest runs each of its suites as a separate test
# (CalqueDiscoverSuites.cmake): a process per test case would spend most of its time loading libLLVM.

find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(nlohmann_json REQUIRED)
set(CALQUE_TEST_TIMEOUT 2400 CACHE STRING "Seconds that one test may take")
option(CALQUE_TEST_PCH "Compile the tests with one precompiled header" ON)

set(CALQUE_TEST_ENVIRONMENT
    "CALQUE_CACHE_DIR=off"
    "ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:malloc_context_size=8"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/sanitize/lsan.supp:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/sanitize/tsan.supp:second_deadlock_stack=1")

# AddressSanitizer finds every access beyond a buffer, in generated code too, so that guarded buffers would only cost
# system calls (a third of the time of some tests).
if(CALQUE_SANITIZE MATCHES "address")
  list(APPEND CALQUE_TEST_ENVIRONMENT "CALQUE_SANITIZE_CODE=1")
else()
  list(APPEND CALQUE_TEST_ENVIRONMENT "CALQUE_GUARD=1")
endif()

function(calque_set_test_environment)
  set_tests_properties(${ARGV} PROPERTIES ENVIRONMENT "${CALQUE_TEST_ENVIRONMENT}" TIMEOUT ${CALQUE_TEST_TIMEOUT})
endfunction()

# Usage requirements of test programs: the private headers, GoogleTest and RapidCheck. No definition contains a path of
# this folder: the compiler cache would miss in every other (tools/check_cache). Files are found by support/paths.h.
add_library(calque_test_usage INTERFACE)
target_include_directories(calque_test_usage INTERFACE "${PROJECT_SOURCE_DIR}/lib" "${PROJECT_SOURCE_DIR}/test")
target_link_libraries(calque_test_usage INTERFACE calque_program_flags calque::calque calque_private_dependencies GTest::gtest
                                                  GTest::gmock rapidcheck nlohmann_json::nlohmann_json)
# Tests drop results of what must throw. A library of its own, the last of the list: its flag must follow -Wall.
add_library(calque_dropped_results INTERFACE)
target_compile_options(calque_dropped_results INTERFACE -Wno-unused-result)
target_link_libraries(calque_test_usage INTERFACE calque_dropped_results)
if(CALQUE_SANITIZE)
  # Checks of sanitizers make optimizing a test take two thirds of its compilation; the library is optimized.
  target_compile_options(calque_test_usage INTERFACE -O0)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(calque_test_usage INTERFACE -O0)
endif()

# test/support/**.cpp: code shared by tests of several folders (random graphs, running graphs natively).
file(GLOB_RECURSE calque_test_support_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/support/*.cpp")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/source" SYMBOLIC)
add_library(calque_test_support STATIC ${calque_test_support_sources})
target_link_libraries(calque_test_support PRIVATE calque_test_usage)

add_library(calque_test_main STATIC "${PROJECT_SOURCE_DIR}/tools/cmake/test_main.cpp")
target_link_libraries(calque_test_main PRIVATE calque_test_usage)
# A precompiled header is only valid for objects with the same flags: neither -fPIC nor -fPIE here or in the programs.
set_target_properties(calque_test_main PROPERTIES POSITION_INDEPENDENT_CODE OFF)
if(CALQUE_TEST_PCH)
  target_precompile_headers(calque_test_main PRIVATE "${PROJECT_SOURCE_DIR}/tools/cmake/test_pch.h")
  # Otherwise each test instantiates the templates used by the header's inline functions again.
  target_compile_options(calque_test_usage INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fpch-instantiate-templates>)
endif()

# A build without sanitizers whose objects of tests and examples are linked here: the library and the code that it
# generates are instrumented, most programs are compiled once for both builds. Instrumented themselves are sources that
# depend on it (__SANITIZE_ADDRESS__), and those of the folders below, which instantiate the interface's templates with
# users' types.
set(CALQUE_TEST_OBJECTS "" CACHE PATH "Build folder without sanitizers whose objects of tests are used")
set(calque_instrumented_tests classes eigen functors jit)
if(CALQUE_TEST_OBJECTS AND NOT EXISTS "${CALQUE_TEST_OBJECTS}/build.ninja")
  message(STATUS "Calque: ${CALQUE_TEST_OBJECTS} is no build folder, all tests are compiled with sanitizers")
  set(CALQUE_TEST_OBJECTS "")  # hides the entry of the cache
endif()

# In the list of sources of a target, replaces those whose objects are in CALQUE_TEST_OBJECTS by these.
function(calque_share_objects target list)
  if(NOT CALQUE_TEST_OBJECTS)
    return()
  endif()
  set(files)
  foreach(source IN LISTS ${list})
    file(STRINGS "${source}" conditions REGEX "__SANITIZE_" LIMIT_COUNT 1)
    if(conditions)
      list(APPEND files "${source}")
    else()
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
      set(object "CMakeFiles/${target}.dir/${path}.o")
      set_source_files_properties("${CALQUE_TEST_OBJECTS}/${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
      list(APPEND files "${CALQUE_TEST_OBJECTS}/${object}")
      set_property(GLOBAL APPEND PROPERTY calque_shared_objects "${object}")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY calque_sharing_targets "${target}")
  set(${list} "${files}" PARENT_SCOPE)
endfunction()

# The other build's own program compiles them, so that they are never out of date.
function(calque_compile_shared_objects)
  get_property(objects GLOBAL PROPERTY calque_shared_objects)
  get_property(targets GLOBAL PROPERTY calque_sharing_targets)
  list(JOIN objects "\n" lines)
  set(names "${PROJECT_BINARY_DIR}/test/shared_objects.txt")
  file(CONFIGURE OUTPUT "${names}" CONTENT "@lines@\n" @ONLY)
  list(TRANSFORM objects PREPEND "${CALQUE_TEST_OBJECTS}/")
  add_custom_target(calque_shared_test_objects
    COMMAND xargs -a "${names}" "${CMAKE_MAKE_PROGRAM}" -C "${CALQUE_TEST_OBJECTS}" --quiet
    BYPRODUCTS ${objects} COMMENT "Compiling tests in ${CALQUE_TEST_OBJECTS}" USES_TERMINAL VERBATIM)
  foreach(target IN LISTS targets)
    add_dependencies(${target} calque_shared_test_objects)
  endforeach()
endfunction()
if(CALQUE_TEST_OBJECTS)
  cmake_language(DEFER CALL calque_compile_shared_objects)
endif()

file(GLOB calque_test_folders LIST_DIRECTORIES true CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/*")
foreach(folder IN LISTS calque_test_folders)
  cmake_path(GET folder FILENAME name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*_test.cpp")
  if(NOT sources OR (CALQUE_SANITIZE AND name STREQUAL "npbench"))
    continue()  # programs, whose results do not depend on instrumentation
  endif()
  if(name STREQUAL "ceres" AND NOT TARGET calque::ceres)
    continue()
  endif()
  # Files in the folder that are not tests are helpers of its tests.
  file(GLOB helpers CONFIGURE_DEPENDS "${folder}/*_helpers.cpp")
  list(APPEND sources ${helpers})
  if(NOT name IN_LIST calque_instrumented_tests)
    calque_share_objects(test_${name} sources)
  endif()
  add_executable(test_${name} ${sources})
  set_target_properties(test_${name} PROPERTIES LINKER_LANGUAGE CXX)
  # Helpers contain the tests' calls of oneTBB, which ThreadSanitizer cannot analyze (happens_before.h).
  if(helpers AND CALQUE_SANITIZE MATCHES "thread")
    set_source_files_properties(${helpers} PROPERTIES COMPILE_OPTIONS "-fno-sanitize=thread"
      COMPILE_DEFINITIONS CALQUE_THREAD_SANITIZER SKIP_PRECOMPILE_HEADERS ON)
  endif()
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test"
                                               POSITION_INDEPENDENT_CODE OFF)
  target_link_libraries(test_${name} PRIVATE calque_test_main calque_test_support calque_test_usage)
  if(name STREQUAL "ceres")
    target_link_libraries(test_${name} PRIVATE calque::ceres)
  endif()
  if(CALQUE_TEST_PCH)
    target_precompile_headers(test_${name} REUSE_FROM calque_test_main)
  endif()
  set(script "${PROJECT_BINARY_DIR}/test/test_${name}_suites.cmake")
  file(
    CONFIGURE OUTPUT "${script}" @ONLY
    CONTENT [[
set(executable "@PROJECT_BINARY_DIR@/test/test_@name@")
set(prefix "@name@")
set(environment "@CALQUE_TEST_ENVIRONMENT@")
set(timeout @CALQUE_TEST_TIMEOUT@)
include("@PROJECT_SOURCE_DIR@/tools/cmake/CalqueDiscoverSuites.cmake")
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
endforeach()

# A library with the entry points of the CUDA driver that runs kernels on the simulator.
if(TARGET test_gpu)
  file(GLOB stand_in_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/stand_in/*.cpp")
  add_library(stand_in_cuda MODULE ${stand_in_sources})
  set_target_properties(stand_in_cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test")
  target_link_libraries(stand_in_cuda PRIVATE calque_test_usage)
  add_library(stand_in_refusing MODULE "${PROJECT_SOURCE_DIR}/test/stand_in/refusing/cublaslt.cpp")
  set_target_properties(stand_in_refusing PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test")
  target_link_libraries(stand_in_refusing PRIVATE calque_test_usage)
  add_dependencies(test_gpu stand_in_cuda stand_in_refusing)
  # Only used to check our declarations of the driver, of cuBLASLt and of NCCL.
  find_path(CALQUE_CUDA_HEADERS cuda.h HINTS /usr/local/cuda/include)
  mark_as_advanced(CALQUE_CUDA_HEADERS)
  if(CALQUE_CUDA_HEADERS)
    set_source_files_properties(
      "${PROJECT_SOURCE_DIR}/test/gpu/cuda_layouts_test.cpp" "${PROJECT_SOURCE_DIR}/test/gpu/cublaslt_layouts_test.cpp"
      "${PROJECT_SOURCE_DIR}/test/gpu/nccl_layouts_test.cpp"
      PROPERTIES COMPILE_OPTIONS "-isystem;${CALQUE_CUDA_HEADERS}")
  endif()
endif()

# Plug-ins that use the library of the program that loads them. With g++'s unique symbols they could never be unloaded.
if(TARGET test_plugins)
  set_target_properties(test_plugins PROPERTIES ENABLE_EXPORTS ON)
  target_link_options(test_plugins PRIVATE "LINKER:--whole-archive,$<TARGET_FILE:calque>,--no-whole-archive")
  foreach(factor IN ITEMS 2 3)
    add_library(plugin_${factor} MODULE "${PROJECT_SOURCE_DIR}/test/plugins/plugin.cpp")
    set_target_properties(plugin_${factor} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test")
    target_include_directories(plugin_${factor} PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/test")
    target_link_libraries(plugin_${factor} PRIVATE calque_flags Eigen3::Eigen)
    target_compile_definitions(plugin_${factor} PRIVATE CALQUE_PLUGIN_FACTOR=${factor})
    target_compile_options(plugin_${factor} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
    add_dependencies(test_plugins plugin_${factor})
  endforeach()
endif()

# Runs the tests of functions again on the GPU simulator, except those that inspect the memory of arrays or CPU kernels.
# Not with sanitizers: test_gpu runs the same code there.
if(TARGET test_jit AND NOT CALQUE_SANITIZE)
  string(CONCAT of_cpu_kernels "InPlace.ChainsOfRowsCopyTheArrayOnce:InPlace.ChainsOfElementsAndScatters:"
                               "InPlace.UpdatesByNumbersOfSwappedCarriesWriteTheRow")
  add_test(NAME jit.OnSimulator
           COMMAND test_jit --gtest_brief=1
                   "--gtest_filter=-DonatedMemory.*:Donate.*KeepsItsMemory:Trees.*IsShared:Explain.ListsKernels*:${of_cpu_kernels}")
  calque_set_test_environment(jit.OnSimulator)
  set_property(TEST jit.OnSimulator APPEND PROPERTY ENVIRONMENT "CALQUE_DEVICE=gpu_sim")
  set_tests_properties(jit.OnSimulator PROPERTIES LABELS jit COST 100)  # started early: it would end alone
endif()

# The programs of tests turn the evaluation of first runs off (test_main.cpp). Here operations on arrays run with it.
foreach(name IN ITEMS classes jit)
  if(TARGET test_${name})
    add_test(NAME ${name}.FirstRuns COMMAND test_${name} --gtest_brief=1)
    calque_set_test_environment(${name}.FirstRuns)
    set_property(TEST ${name}.FirstRuns APPEND PROPERTY ENVIRONMENT "CALQUE_TEST_FIRST_RUNS=1")
    set_tests_properties(${name}.FirstRuns PROPERTIES LABELS ${name})
  endif()
endforeach()

# Guarded buffers bypass the buffer pool, so its tests also run without them.
set(unguarded_of_ir "--gtest_filter=Storage*:AnyArray*")
foreach(name IN ITEMS ir runtime)
  if(TARGET test_${name} AND "CALQUE_GUARD=1" IN_LIST CALQUE_TEST_ENVIRONMENT)
    set(unguarded "${CALQUE_TEST_ENVIRONMENT}")
    list(REMOVE_ITEM unguarded "CALQUE_GUARD=1")
    add_test(NAME ${name}.Unguarded COMMAND test_${name} --gtest_brief=1 ${unguarded_of_${name}})
    set_tests_properties(${name}.Unguarded PROPERTIES ENVIRONMENT "${unguarded}" TIMEOUT ${CALQUE_TEST_TIMEOUT} LABELS
                                                                                                           ${name})
  endif()
endforeach()

# test/process/*.cpp: tests of process exit and other process-wide behaviour, one program each.
file(GLOB calque_process_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/process/*.cpp")
foreach(source IN LISTS calque_process_tests)
  cmake_path(GET source STEM name)
  add_executable(process_${name} "${source}")
  set_target_properties(process_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test")
  target_link_libraries(process_${name} PRIVATE calque_test_support calque_test_usage)
  add_test(NAME process.${name} COMMAND process_${name})
  calque_set_test_environment(process.${name})
endforeach()
if(TARGET stand_in_cuda)
  add_dependencies(process_disk_cache_devices stand_in_cuda)
endif()
add_test(NAME process.at_exit.first_use COMMAND process_at_exit first_use)
calque_set_test_environment(process.at_exit.first_use)

# lib/math is compared with MPFR; the program that does so for every float is built on request.
if(TARGET test_math)
  find_library(CALQUE_MPFR mpfr REQUIRED)
  find_library(CALQUE_GMP gmp REQUIRED)
  add_executable(math_exhaustive EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/test/math/exhaustive.cpp")
  target_include_directories(math_exhaustive PRIVATE "${PROJECT_SOURCE_DIR}/lib")
  target_link_libraries(math_exhaustive PRIVATE calque_flags "${CALQUE_MPFR}" "${CALQUE_GMP}")
  target_link_libraries(test_math PRIVATE "${CALQUE_MPFR}" "${CALQUE_GMP}")

  # Compiled functions over every float: sampled here; the full run is manual.
  add_executable(math_every_float "${PROJECT_SOURCE_DIR}/test/math/every_float.cpp")
  set_target_properties(math_every_float PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test")
  target_link_libraries(math_every_float PRIVATE calque_test_usage)
  add_test(NAME math.EveryFloat.Sampled COMMAND math_every_float --stride 4001)
  add_test(NAME math.EveryFloat.SampledFast COMMAND math_every_float --stride 4001 --fast)
  calque_set_test_environment(math.EveryFloat.Sampled math.EveryFloat.SampledFast)
endif()

# test/mpi/*.cpp: programs of several ranks on this machine. They are not run with sanitizers, of which MPI libraries know
# nothing: test/collectives runs the same code among threads there.
if(TARGET calque::mpi AND NOT CALQUE_SANITIZE)
  execute_process(COMMAND "${CALQUE_MPIRUN}" --version OUTPUT_VARIABLE version ERROR_QUIET)
  set(CALQUE_MPIRUN_FLAGS)
  if(version MATCHES "Open MPI|OpenRTE")
    set(CALQUE_MPIRUN_FLAGS --allow-run-as-root --oversubscribe)
  endif()
  function(calque_add_mpi_test name)
    add_test(NAME ${name} COMMAND ${ARGN})
    calque_set_test_environment(${name})
    set_tests_properties(${name} PROPERTIES LABELS mpi PROCESSORS 2)
  endfunction()
  foreach(name IN ITEMS collectives programs random mistakes faults)
    add_executable(mpi_${name} "${PROJECT_SOURCE_DIR}/test/mpi/${name}.cpp")
    set_target_properties(mpi_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test")
    target_link_libraries(mpi_${name} PRIVATE calque::mpi calque_test_usage)
  endforeach()
  foreach(ranks RANGE 1 5)
    calque_add_mpi_test(mpi.collectives.${ranks} "${CALQUE_MPIRUN}" ${CALQUE_MPIRUN_FLAGS} -np ${ranks}
                        $<TARGET_FILE:mpi_collectives>)
    # Most of the time is compilation, of which every rank does all.
    set_property(TEST mpi.collectives.${ranks} APPEND PROPERTY ENVIRONMENT "CALQUE_TIER=quick")
  endforeach()
  foreach(ranks RANGE 1 3)
    calque_add_mpi_test(mpi.programs.${ranks} "${CALQUE_MPIRUN}" ${CALQUE_MPIRUN_FLAGS} -np ${ranks}
                        $<TARGET_FILE:mpi_programs>)
  endforeach()
  calque_add_mpi_test(mpi.random.3 "${CALQUE_MPIRUN}" ${CALQUE_MPIRUN_FLAGS} -np 3 $<TARGET_FILE:mpi_random>)
  set_property(TEST mpi.random.3 APPEND PROPERTY ENVIRONMENT "CALQUE_TIER=quick")
  foreach(how IN ITEMS single ended)
    calque_add_mpi_test(mpi.mistakes.${how} "${CALQUE_MPIRUN}" ${CALQUE_MPIRUN_FLAGS} -np 2 $<TARGET_FILE:mpi_mistakes> ${how})
    set_property(TEST mpi.mistakes.${how} APPEND PROPERTY ENVIRONMENT "CALQUE_TIER=quick")
  endforeach()
  foreach(name IN ITEMS collectives random mistakes)
    calque_add_mpi_test(mpi.checked.${name} "${CALQUE_MPIRUN}" ${CALQUE_MPIRUN_FLAGS} -np 3 $<TARGET_FILE:mpi_${name}>)
    set_property(TEST mpi.checked.${name} APPEND PROPERTY ENVIRONMENT "CALQUE_MPI_CHECK=1" "CALQUE_TIER=quick")
  endforeach()
  function(calque_add_mpi_fault fault)
    calque_add_mpi_test(mpi.fault.${fault} "${PROJECT_SOURCE_DIR}/test/mpi/fault.py" "${CALQUE_MPIRUN}"
                        ${CALQUE_MPIRUN_FLAGS} -np 3 $<TARGET_FILE:mpi_faults> ${fault} -- ${ARGN})
    set_property(TEST mpi.fault.${fault} APPEND PROPERTY ENVIRONMENT "CALQUE_MPI_CHECK=1")
  endfunction()
  calque_add_mpi_fault(other_operation "calls mpi::allreduce(f64[2], sum)" "calls mpi::bcast(f64[2], root 0)" "faults.cpp:")
  calque_add_mpi_fault(other_shape "f64[2]" "f64[1]" "faults.cpp:")
  calque_add_mpi_fault(other_type "mpi::send(f64[2], to it)" "mpi::recv(f32[2], from it)" "faults.cpp:")
  calque_add_mpi_fault(other_root "root 0" "root 1")
  calque_add_mpi_fault(other_communicator "of communicator 1" "of communicator 2")
  calque_add_mpi_fault(ends_early "ends its session" "calls mpi::allreduce")
  calque_add_mpi_fault(branch_of_some "calls mpi::allreduce(f64[2], sum)" "calls mpi::barrier()")
  calque_add_mpi_fault(exception "[rank 1] a fault of the program (model.cpp:42)")
  calque_add_mpi_fault(caught_later "caught mpi::bcast: the root is 7")
  calque_add_mpi_fault(caught_inside "[rank 1] ends its session after an operation has failed")
  set_property(TEST mpi.fault.caught_inside APPEND PROPERTY ENVIRONMENT "CALQUE_MPI_CHECK=0")
  calque_add_mpi_fault(neighbours_of_some "caught mpi::sendrecv: rank 1 calls mpi::sendrecv(f64[2], from it)"
                       "calls mpi::sendrecv(f64[3], to it) of communicator 1 (faults.cpp:")
  calque_add_mpi_fault(root_out_of_range "mpi::bcast: the root is 7, and the ranks of" "are 0 to 2 (faults.cpp:")
  calque_add_mpi_fault(message_for_a_collective "calls mpi::send(f64[1000000], to it)" "but rank 1 calls mpi::allreduce(f64[2], sum)")
  calque_add_mpi_fault(message_not_received "ends its session" "calls mpi::send(f64[2], to it) of communicator 1 (faults.cpp:")
  calque_add_mpi_fault(both_receive "rank 0 calls mpi::recv(f64[2], from it)" "rank 1 calls mpi::recv(f64[2], from it)")
  calque_add_mpi_fault(split_of_some "calls mpi::Communicator::split() of communicator 1 (faults.cpp:" "calls mpi::barrier()")
  # Arrays on GPUs, on the stand-in.
  if(TARGET stand_in_cuda)
    add_executable(mpi_nccl "${PROJECT_SOURCE_DIR}/test/mpi/nccl.cpp")
    set_target_properties(mpi_nccl PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test")
    target_link_libraries(mpi_nccl PRIVATE calque::mpi calque_test_usage ${CMAKE_DL_LIBS})
    add_dependencies(mpi_nccl stand_in_cuda)
    function(calque_add_nccl_test case ranks)
      calque_add_mpi_test(mpi.nccl.${case}.${ranks} "${CALQUE_MPIRUN}" ${CALQUE_MPIRUN_FLAGS} -np ${ranks}
                          $<TARGET_FILE:mpi_nccl> ${case})
    endfunction()
    foreach(ranks RANGE 1 3)
      calque_add_nccl_test(collectives ${ranks})
    endforeach()
    calque_add_nccl_test(programs 1)
    calque_add_nccl_test(programs 3)
    calque_add_nccl_test(caught 3)
    calque_add_mpi_test(mpi.nccl.checked "${CALQUE_MPIRUN}" ${CALQUE_MPIRUN_FLAGS} -np 2 $<TARGET_FILE:mpi_nccl> collectives)
    set_property(TEST mpi.nccl.checked APPEND PROPERTY ENVIRONMENT "CALQUE_MPI_CHECK=1")
    # Texts that are printed, by jobs that end well or, with `fault`, do not.
    function(calque_add_nccl_texts case how)
      calque_add_mpi_test(mpi.nccl.${case} "${PROJECT_SOURCE_DIR}/test/mpi/fault.py" ${how} "${CALQUE_MPIRUN}"
                          ${CALQUE_MPIRUN_FLAGS} -np 3 $<TARGET_FILE:mpi_nccl> ${case} -- ${ARGN})
      set_property(TEST mpi.nccl.${case} APPEND PROPERTY ENVIRONMENT "CALQUE_LOG=info")
    endfunction()
    set(through_host "communicator 1 of 3: arrays on GPUs are communicated through host memory:")
    calque_add_nccl_texts(missing --ends-well "CALQUE_LIBNCCL: /nowhere/libnccl.so.2 cannot be opened"
                          "${through_host} rank 1 has no NCCL" "missing: all right")
    calque_add_nccl_texts(old --ends-well "is NCCL 2.8.4; version 2.10.0 or later is needed"
                          "${through_host} rank 1 has no NCCL" "old: all right")
    calque_add_nccl_texts(versions --ends-well "${through_host} rank 0 has NCCL 2.28.9 and rank 1 has 2.28.10"
                          "versions: all right")
    calque_add_nccl_texts(shared --ends-well "${through_host} ranks 0 and 2 share a GPU" "shared: all right")
    calque_add_nccl_texts(off --ends-well "off: all right")
    calque_add_nccl_texts(no_id --ends-well "${through_host} it does not start on rank 0" "no_id: all right")
    calque_add_nccl_texts(refuses --ends-well "does not start on rank 1: NCCL reports unhandled system error"
                          "${through_host} it does not start on rank 1" "refuses: all right")
    calque_add_nccl_texts(fails --fault "[rank 1] mpi::allreduce: NCCL reports unhandled system error, as the stand-in was told"
                          "(nccl.cpp:")
    calque_add_nccl_texts(fails_later --fault "[rank 1] mpi::bcast: NCCL reports unhandled system error" "(nccl.cpp:")
    calque_add_nccl_texts(fails_in_group --fault "[rank 1] mpi::alltoall: NCCL reports unhandled system error" "(nccl.cpp:")
    calque_add_nccl_texts(memories --fault "calls mpi::allreduce(f32[2], sum, on a GPU that is new to it) of communicator 1"
                          "calls mpi::allreduce(f32[2], sum) of communicator 1")
    set_property(TEST mpi.nccl.memories APPEND PROPERTY ENVIRONMENT "CALQUE_MPI_CHECK=1")
  endif()
endif()

include(CalqueCheckedTests)
