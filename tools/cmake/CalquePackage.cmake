# find_package(calque): calqueConfig.cmake for the installed library and, from the export below, for a build tree.

include(CMakePackageConfigHelpers)
set(calque_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/calque")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/calqueConfig.cmake.in" "${PROJECT_BINARY_DIR}/calqueConfig.cmake"
                              INSTALL_DESTINATION "${calque_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/calqueConfigVersion.cmake" COMPATIBILITY SameMinorVersion)

if(CALQUE_INSTALL)
  install(
    TARGETS calque
    EXPORT calqueTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/calque" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT calqueTargets NAMESPACE calque:: DESTINATION "${calque_package_dir}")
  install(FILES "${PROJECT_BINARY_DIR}/calqueConfig.cmake" "${PROJECT_BINARY_DIR}/calqueConfigVersion.cmake"
          DESTINATION "${calque_package_dir}")
  if(TARGET calque_cli)
    install(TARGETS calque_cli DESTINATION "${CMAKE_INSTALL_BINDIR}")
    # Benchmark programs that were built, and the scripts of Python rivals, for `calque bench`.
    install(DIRECTORY "${PROJECT_BINARY_DIR}/bench/" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/calque/bench"
            USE_SOURCE_PERMISSIONS OPTIONAL FILES_MATCHING PATTERN "bench_*")
    install(PROGRAMS "${PROJECT_SOURCE_DIR}/tools/python/rivals.py" "${PROJECT_SOURCE_DIR}/tools/python/rival_cases.py"
            DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/calque/bench")
  endif()
  export(EXPORT calqueTargets NAMESPACE calque:: FILE "${PROJECT_BINARY_DIR}/calqueTargets.cmake")
endif()
