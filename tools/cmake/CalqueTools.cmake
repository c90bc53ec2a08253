# The command-line tool: tools/calque/*.cpp -> bin/calque.

file(GLOB_RECURSE calque_cli_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/calque/*.cpp")
if(calque_cli_sources)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  add_executable(calque_cli ${calque_cli_sources})
  set_target_properties(calque_cli PROPERTIES OUTPUT_NAME calque RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  target_include_directories(calque_cli PRIVATE "${PROJECT_SOURCE_DIR}/lib" "${PROJECT_SOURCE_DIR}/tools")
  target_link_libraries(calque_cli PRIVATE calque_program_flags calque::calque calque_private_dependencies CLI11::CLI11
                                           nlohmann_json::nlohmann_json)
  if(NOT CALQUE_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(calque_cli PRIVATE -O1)
  endif()
  # Without CLI11, whose global objects every file would construct: main.cpp alone includes it.
  target_precompile_headers(calque_cli PRIVATE <algorithm> <cmath> <iostream> <map> <string> <vector>
                            <fmt/format.h> <nlohmann/json.hpp> "${PROJECT_SOURCE_DIR}/include/calque/calque.h")

  # `calque docs` finds the pages of the source tree with this link.
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/source" SYMBOLIC)

  # The completion is the tool's own list of commands and options. Bash finds it by the tool's name when it is installed.
  if(CALQUE_INSTALL AND NOT CALQUE_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    add_custom_command(TARGET calque_cli POST_BUILD
      COMMAND calque_cli completion > "${PROJECT_BINARY_DIR}/calque.bash"
      BYPRODUCTS "${PROJECT_BINARY_DIR}/calque.bash" VERBATIM)
  endif()
endif()
