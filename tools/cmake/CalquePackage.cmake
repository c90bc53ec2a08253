# The installed files, find_package(calque) and pkg-config for them, and a Debian package (cpack -G DEB). Nothing that is
# installed contains the prefix: it can be moved (tools/check_install).

include(CMakePackageConfigHelpers)
set(calque_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/calque")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/calqueConfig.cmake.in" "${PROJECT_BINARY_DIR}/calqueConfig.cmake"
                              INSTALL_DESTINATION "${calque_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/calqueConfigVersion.cmake" COMPATIBILITY SameMinorVersion)

if(NOT CALQUE_INSTALL)
  return()
endif()

# Benchmark programs are a component of their own: the Debian package does not contain them.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME calque)
install(
  TARGETS calque
  EXPORT calqueTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/calque" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
# A static libcalque_mpi has no dependencies on shared libraries, so that the Debian package contains it and does not depend
# on MPI, which users of the component have. A shared one is linked with one MPI: it is a package of its own, calque-mpi.
# Its targets are in a file that only users of the component read, since they name MPI::MPI_CXX.
set(calque_mpi_component calque)
if(BUILD_SHARED_LIBS)
  set(calque_mpi_component mpi)
endif()
if(TARGET calque_mpi)
  install(
    TARGETS calque_mpi
    EXPORT calqueMpiTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${calque_mpi_component}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${calque_mpi_component})
  install(EXPORT calqueMpiTargets NAMESPACE calque:: DESTINATION "${calque_package_dir}"
          COMPONENT ${calque_mpi_component})
  export(EXPORT calqueMpiTargets NAMESPACE calque:: FILE "${PROJECT_BINARY_DIR}/calqueMpiTargets.cmake")
endif()
install(EXPORT calqueTargets NAMESPACE calque:: DESTINATION "${calque_package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/calqueConfig.cmake" "${PROJECT_BINARY_DIR}/calqueConfigVersion.cmake"
        DESTINATION "${calque_package_dir}")
export(EXPORT calqueTargets NAMESPACE calque:: FILE "${PROJECT_BINARY_DIR}/calqueTargets.cmake")

# Where `calque docs` finds them. A Debian package has its licence there, under the name `copyright`.
set(calque_doc_dir "${CMAKE_INSTALL_DATADIR}/doc/calque")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${calque_doc_dir}" FILES_MATCHING PATTERN "*.md"
        PATTERN "pictures" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${calque_doc_dir}" RENAME copyright)

if(TARGET calque_cli)
  if(BUILD_SHARED_LIBS)
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_FULL_BINDIR}" OUTPUT_VARIABLE lib)
    set_target_properties(calque_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${lib}")
  endif()
  install(TARGETS calque_cli DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES "${PROJECT_BINARY_DIR}/calque.bash" RENAME calque OPTIONAL
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  # Benchmark programs that were built, and the scripts of Python rivals, for `calque bench`.
  install(DIRECTORY "${PROJECT_BINARY_DIR}/bench/" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/calque/bench" COMPONENT bench
          USE_SOURCE_PERMISSIONS OPTIONAL FILES_MATCHING PATTERN "bench_*")
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/tools/python/rivals.py" "${PROJECT_SOURCE_DIR}/tools/python/rival_cases.py"
          DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/calque/bench" COMPONENT bench)
endif()

# calque.pc: a static library needs its dependencies at the user's link, a shared one has them. LLVM's archives have
# dozens of dependencies of their own, which only LLVM's CMake files name.
if(CALQUE_STATIC_LLVM OR NOT TARGET LLVM)
  message(STATUS "Calque: no calque.pc with LLVM's component archives; use find_package")
else()
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE lib)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE include)
  string(REGEX REPLACE "[^/]+" ".." up "${lib}/pkgconfig")
  set(libs "-L\${libdir} -lcalque -pthread")
  set(requires "eigen3 >= 3.4")
  if(NOT BUILD_SHARED_LIBS)
    string(APPEND libs " -lboost_context -L${LLVM_LIBRARY_DIR} -lLLVM -ldl")
    string(APPEND requires ", fmt, spdlog, tbb")
  endif()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/calque.pc" @ONLY CONTENT [[
prefix=${pcfiledir}/@up@
libdir=${prefix}/@lib@
includedir=${prefix}/@include@

Name: calque
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Requires: @requires@
Libs: @libs@
Cflags: -I${includedir}
]])
  install(FILES "${PROJECT_BINARY_DIR}/calque.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  if(TARGET calque_mpi)
    # mpi-c is the system's MPI, as Debian has it.
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/calque-mpi.pc" @ONLY CONTENT [[
prefix=${pcfiledir}/@up@
libdir=${prefix}/@lib@

Name: calque-mpi
Description: Calls of MPI in functions of Calque
Version: @PROJECT_VERSION@
Requires: calque = @PROJECT_VERSION@, mpi-c
Libs: -L${libdir} -lcalque_mpi
]])
    install(FILES "${PROJECT_BINARY_DIR}/calque-mpi.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
            COMPONENT ${calque_mpi_component})
  endif()
endif()

# One Debian package for users of the library and of the tool, and calque-mpi with a shared libcalque_mpi. dpkg-shlibdeps knows the packages of the shared libraries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME calque)
set(CPACK_PACKAGE_CONTACT "The Calque project <calque@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL calque)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" boost "${Boost_VERSION}")
# zstd and zlib: LLVM's CMake files look for what LLVM was built with.
set(depends "libeigen3-dev (>= 3.4)")
if(NOT BUILD_SHARED_LIBS)
  string(APPEND depends ", libtbb-dev, libfmt-dev, libspdlog-dev, libboost-context${boost}-dev, "
                        "llvm-${LLVM_VERSION_MAJOR}-dev, libzstd-dev, zlib1g-dev")
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${depends}")
# The static libcalque_mpi is for the MPI that it was compiled with.
if(TARGET calque_mpi AND "${MPI_CXX_INCLUDE_DIRS} ${MPI_CXX_COMPILER_INCLUDE_DIRS}" MATCHES "/(openmpi|mpich)")
  set(mpi_package "lib${CMAKE_MATCH_1}-dev")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "${mpi_package}")
endif()
if(TARGET calque_mpi AND BUILD_SHARED_LIBS)
  # calque-mpi beside calque: dpkg-shlibdeps would make the latter depend on MPI.
  set(CPACK_COMPONENTS_ALL calque mpi)
  set(CPACK_COMPONENTS_GROUPING IGNORE)
  set(CPACK_DEBIAN_CALQUE_PACKAGE_NAME calque)
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS)
  set(CPACK_DEBIAN_CALQUE_PACKAGE_SUGGESTS calque-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME calque-mpi)
  set(CPACK_DEBIAN_MPI_DESCRIPTION "Calls of MPI in functions of Calque")
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "calque (= ${PROJECT_VERSION})")
  if(mpi_package)
    string(APPEND CPACK_DEBIAN_MPI_PACKAGE_DEPENDS ", ${mpi_package}")
  endif()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")  # libcalque is in the other package
endif()
include(CPack)
