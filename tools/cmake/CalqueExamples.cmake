# examples/*.cpp: one program each, run as the test example.<name>. Data files lie in examples/data.

file(GLOB calque_examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp")
find_package(PNG QUIET)
foreach(source IN LISTS calque_examples)
  cmake_path(GET source STEM name)
  add_executable(example_${name} ${source})
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                                                                       "${PROJECT_BINARY_DIR}/examples")
  target_compile_definitions(example_${name} PRIVATE CALQUE_EXAMPLE_DATA_DIR="${PROJECT_SOURCE_DIR}/examples/data")
  target_link_libraries(example_${name} PRIVATE calque_flags calque::calque)
  if(PNG_FOUND)
    target_link_libraries(example_${name} PRIVATE PNG::PNG)
  endif()
  if(CALQUE_TESTS)
    add_test(NAME example.${name} COMMAND example_${name} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
    calque_set_test_environment(example.${name})
  endif()
endforeach()
