# calque_use_program_header(<target> <source>...): one precompiled header for the examples and benchmarks, of whose
# compilation reading calque.h is up to a third. It has nothing else: no program finds what it does not include. Flags must
# be the same for all, so there is no -fPIE.
add_library(calque_program_header STATIC EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/tools/cmake/program_header.cpp")
target_link_libraries(calque_program_header PRIVATE calque_program_flags calque::calque)
set_target_properties(calque_program_header PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_precompile_headers(calque_program_header PRIVATE "${PROJECT_SOURCE_DIR}/include/calque/calque.h")

function(calque_use_program_header target)
  set(sources ${ARGN})
  list(FILTER sources INCLUDE REGEX "[.]cpp$")  # others are objects of another build
  if(sources AND NOT CALQUE_SANITIZE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_precompile_headers(${target} REUSE_FROM calque_program_header)
  endif()
endfunction()
