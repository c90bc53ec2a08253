# All dependencies of the library. Only Eigen (its Core, for the 16-bit types) is visible in public headers.

find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/llvm)
find_path(CALQUE_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
mark_as_advanced(CALQUE_XXHASH_INCLUDE_DIR)
message(STATUS "Calque: LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

# Dependencies that the private sources of every layer may include.
add_library(calque_private_dependencies INTERFACE)
target_link_libraries(calque_private_dependencies INTERFACE Eigen3::Eigen Threads::Threads TBB::tbb fmt::fmt
                                                            spdlog::spdlog)
target_include_directories(calque_private_dependencies SYSTEM INTERFACE ${CALQUE_XXHASH_INCLUDE_DIR})
target_compile_definitions(calque_private_dependencies INTERFACE XXH_INLINE_ALL)

# LLVM's headers, only for the codegen layer.
add_library(calque_llvm_headers INTERFACE)
target_include_directories(calque_llvm_headers SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(calque_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(calque_llvm_headers INTERFACE ${calque_llvm_definitions})
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(calque_llvm_headers INTERFACE -fno-rtti)
endif()

# The LLVM back ends to link. A statically linked program with few of them is a fraction of the size of one with all.
set(CALQUE_LLVM_TARGETS "" CACHE STRING "LLVM's back ends, such as 'X86;NVPTX' (empty: all)")
if(CALQUE_LLVM_TARGETS)
  foreach(name IN LISTS CALQUE_LLVM_TARGETS)
    if(NOT name IN_LIST LLVM_TARGETS_TO_BUILD)
      message(FATAL_ERROR "CALQUE_LLVM_TARGETS: LLVM was built without ${name} (there are: ${LLVM_TARGETS_TO_BUILD})")
    endif()
  endforeach()
  if(NOT LLVM_NATIVE_ARCH IN_LIST CALQUE_LLVM_TARGETS)
    message(FATAL_ERROR "CALQUE_LLVM_TARGETS must name ${LLVM_NATIVE_ARCH}, which functions are compiled for here")
  endif()
  list(TRANSFORM CALQUE_LLVM_TARGETS REPLACE "(.+)" "CALQUE_LLVM_TARGET(\\1)" OUTPUT_VARIABLE invocations)
  list(JOIN invocations " " invocations)
  target_compile_definitions(calque_llvm_headers INTERFACE "CALQUE_LLVM_TARGETS=${invocations}")
endif()

# LLVM libraries to link: the shared libLLVM if available, otherwise the component archives.
if(TARGET LLVM AND NOT CALQUE_STATIC_LLVM)
  set(CALQUE_LLVM_LIBRARIES LLVM)
else()
  set(backends ${CALQUE_LLVM_TARGETS})
  if(NOT backends)
    set(backends AllTargetsCodeGens AllTargetsAsmParsers AllTargetsDescs AllTargetsInfos)
  endif()
  llvm_map_components_to_libnames(CALQUE_LLVM_LIBRARIES core orcjit passes instrumentation asmparser bitreader
                                  bitwriter ${backends})
endif()
