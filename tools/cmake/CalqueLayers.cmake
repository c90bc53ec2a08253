# calque_add_layer(<layer>): the object library calque_<layer> of lib/<layer>/**.cpp. A layer without sources has none.
# calque_join_layers(): the library `calque` of all layers, alias calque::calque.

# Layers whose branches guide the fuzzers of test/fuzz. Sanitizers check the others too, but counters there would only
# slow down every build and test. Operands of comparisons guide them through texts alone, which ir reads: the reference
# evaluator of primitives compares for every element.
set(CALQUE_FUZZED_LAYERS ir primitives transform)

set(CALQUE_DEVICE_EMITTERS
    device_emitter thread_group device_memory device_loops device_reduction device_scan device_contraction device_factors
    device_products device_ops kept_rows)

function(calque_add_layer layer)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/${layer}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_library(calque_${layer} OBJECT ${sources})
  target_include_directories(calque_${layer} PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/lib")
  target_link_libraries(calque_${layer} PRIVATE calque_flags calque_private_dependencies)
  if(CALQUE_FUZZ AND layer IN_LIST CALQUE_FUZZED_LAYERS)
    if(layer STREQUAL "ir")
      target_compile_options(calque_${layer} PRIVATE -fsanitize=fuzzer-no-link)
    else()
      target_compile_options(calque_${layer} PRIVATE -fsanitize-coverage=inline-8bit-counters,pc-table)
    endif()
  endif()
  # Parsing LLVM's headers dominates compile time, so the files of codegen are always compiled in unity groups (below).
  if(CALQUE_UNITY AND NOT layer STREQUAL "codegen")
    set_target_properties(calque_${layer} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    # g++ treats files included by a unity source as headers and warns about types with internal linkage in them.
    target_compile_options(calque_${layer} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  if(layer STREQUAL "primitives")
    # The families' sources instantiate what this file calls, and each only its own (primitives/registration.h).
    set_source_files_properties("${PROJECT_SOURCE_DIR}/lib/primitives/registry.cpp" PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(layer STREQUAL "runtime")
    # Its own file in every build, so that the unity groups are the same in all of them: names that clash in one clash
    # in each.
    set(parallel "${PROJECT_SOURCE_DIR}/lib/runtime/process/parallel.cpp")
    set_source_files_properties("${parallel}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    if(CALQUE_SANITIZE MATCHES "thread")
      set_source_files_properties("${parallel}" PROPERTIES
        COMPILE_OPTIONS "-fno-sanitize=thread" COMPILE_DEFINITIONS CALQUE_THREAD_SANITIZER)
    endif()
  endif()
  if(layer STREQUAL "runtime")
    # lib/runtime/routines/dense.h. GCC 12 vectorises straight-line code of Eigen wrongly (docs/mathematics.md), and warns
    # of its own intrinsics and of vectors as template arguments.
    set(vectorisation "$<$<CXX_COMPILER_ID:GNU>:-fno-tree-slp-vectorize;-Wno-uninitialized;-Wno-maybe-uninitialized;-Wno-ignored-attributes>")
    foreach(name IN ITEMS dense_v2 dense_v3 dense_v4 spectra_v2 spectra_v3 spectra_v4 eig_v2 eig_v3 eig_v4)
      set(source "${PROJECT_SOURCE_DIR}/lib/runtime/routines/${name}.cpp")
      string(REGEX REPLACE ".*_v" "" level "${name}")
      # Eigen's decompositions are of vectors by themselves, and many: -O3 takes three times as long and gains nothing.
      set(optimization "$<IF:$<STREQUAL:${name},dense_v${level}>,-O3,-O2>")
      set(march "-march=x86-64-v${level}")
      if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        set(march "")
        if(level GREATER 2)
          set_source_files_properties("${source}" PROPERTIES HEADER_FILE_ONLY ON)
        endif()
      endif()
      # Sanitizers would check Eigen, at several times the time to compile it: one level, as it is, does for them.
      if(CALQUE_SANITIZE AND name MATCHES "spectra|eig")
        set(optimization "-O1;-fno-sanitize=all")
        set(march "")
        if(level GREATER 2)
          set_source_files_properties("${source}" PROPERTIES HEADER_FILE_ONLY ON)
        endif()
        set_source_files_properties("${PROJECT_SOURCE_DIR}/lib/runtime/routines/routines.cpp" PROPERTIES
          COMPILE_DEFINITIONS CALQUE_ONE_SPECTRAL_LEVEL SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
      set_source_files_properties("${source}" PROPERTIES
        COMPILE_OPTIONS "${march};${vectorisation};${optimization};-ffp-contract=fast;-fvisibility=hidden"
        COMPILE_DEFINITIONS "NDEBUG;EIGEN_DONT_PARALLELIZE" SKIP_UNITY_BUILD_INCLUSION ON)
    endforeach()
  endif()
  if(layer STREQUAL "compile")
    # lib/compile/source_hash.h
    file(GLOB_RECURSE hashed CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/*.h" "${PROJECT_SOURCE_DIR}/lib/*.cpp"
                                               "${PROJECT_SOURCE_DIR}/include/*.h"
                                               "${PROJECT_SOURCE_DIR}/include/*.def")
    set(list "${PROJECT_BINARY_DIR}/generated/sources.txt")
    set(hash "${PROJECT_BINARY_DIR}/generated/source_hash.cpp")
    list(JOIN hashed "\n" lines)
    file(CONFIGURE OUTPUT "${list}" CONTENT "${lines}" @ONLY)
    add_custom_command(
      OUTPUT "${hash}"
      COMMAND "${CMAKE_COMMAND}" "-DLIST=${list}" "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS}"
              "-DOUTPUT=${hash}" -P "${PROJECT_SOURCE_DIR}/tools/cmake/source_hash.cmake"
      DEPENDS ${hashed} "${list}" "${PROJECT_SOURCE_DIR}/tools/cmake/source_hash.cmake"
      COMMENT "Hashing the sources" VERBATIM)
    target_sources(calque_${layer} PRIVATE "${hash}")
    set_source_files_properties("${hash}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(layer STREQUAL "codegen")
    target_link_libraries(calque_${layer} PRIVATE calque_llvm_headers)
    set_target_properties(calque_${layer} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    list(TRANSFORM CALQUE_DEVICE_EMITTERS PREPEND "device/" OUTPUT_VARIABLE devices)
    foreach(group IN ITEMS
            "scalars;scalar/scalar_ops;scalar/conversions;scalar/math_functions;emit/inverse_root;emit/math_calls;\
emit/scalar_instructions;emit/kernel_emitter;emit/branches;emit/buffer_access"
            "loops;emit/non_temporal;emit/interleave;emit/deinterleave;emit/runtime_calls;loops/accumulators;loops/pairwise;loops/reduction;\
loops/columns;loops/scan;loops/loops;cpu/vector_memory"
            "products;cpu/cpu_emitter;cpu/emit_contraction;cpu/packing;cpu/entry;cpu/entry_steps;cpu/scalar_entry;\
llvm/flush_mode;llvm/split_masks;llvm/function_attributes;llvm/watched"
            "backends;jit/backend;jit/native_build;jit/linked_program;jit/optimization_level"
            "linker;jit/session;jit/math_library;llvm/llvm_errors;llvm/target;llvm/read_llvm_ir"
            "passes;llvm/contract_products;llvm/rounding_fences;llvm/masks;cpu/inline_kernel;cpu/join_kernels;cpu/merge_segments;cpu/outline;cpu/partition_module"
            "devices;${devices};gpu/lower_to_nvvm;gpu/lower_to_simulator"
            "device_backends;gpu/device_backend;gpu/device_module;gpu/device_build")
      list(POP_FRONT group name)
      list(TRANSFORM group REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/lib/codegen/\\1.cpp")
      set_source_files_properties(${group} PROPERTIES UNITY_GROUP ${name})
    endforeach()
  endif()
  set_property(GLOBAL APPEND PROPERTY CALQUE_LAYER_TARGETS calque_${layer})
endfunction()

function(calque_join_layers)
  get_property(layers GLOBAL PROPERTY CALQUE_LAYER_TARGETS)
  set(objects)
  foreach(layer IN LISTS layers)
    list(APPEND objects $<TARGET_OBJECTS:${layer}>)
  endforeach()
  if(NOT objects)
    message(FATAL_ERROR "no layer under lib/ has a source file")
  endif()
  add_library(calque ${objects})
  add_library(calque::calque ALIAS calque)
  # Before version 1, a minor version may change the interface (calqueConfigVersion.cmake).
  set_target_properties(calque PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                          SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
  target_compile_features(calque PUBLIC cxx_std_20)
  target_include_directories(
    calque PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(
    calque
    PUBLIC Eigen3::Eigen Threads::Threads
    PRIVATE TBB::tbb fmt::fmt spdlog::spdlog Boost::context ${CALQUE_LLVM_LIBRARIES} ${CMAKE_DL_LIBS})
  if(CALQUE_SANITIZE)
    target_link_options(calque PRIVATE "-fsanitize=${CALQUE_SANITIZE}")
  endif()
endfunction()
