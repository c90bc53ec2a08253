# calque::mpi: <calque/mpi.h> over MPI (libopenmpi-dev or libmpich-dev), which the library itself neither links nor knows.
# It is left out where MPI is not installed. In installations the package has it as a component (calqueConfig.cmake.in).
# Where several implementations are installed, MPI_CXX_COMPILER names the compiler of one: mpicxx.mpich.
option(CALQUE_MPI "Build calque::mpi where MPI is installed" ON)
if(CALQUE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)  # the bindings that MPI no longer has
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(MPI_CXX_FOUND)
  # The launcher of this implementation: that of another starts as many jobs of one rank each.
  set(calque_mpi_name openmpi)
  foreach(folder IN LISTS MPI_CXX_HEADER_DIR MPI_CXX_INCLUDE_DIRS)
    if(EXISTS "${folder}/mpi.h")
      file(STRINGS "${folder}/mpi.h" version REGEX "define +MPICH_VERSION")
      if(version)
        set(calque_mpi_name mpich)
      endif()
      break()
    endif()
  endforeach()
  get_filename_component(calque_mpi_folder "${MPI_CXX_COMPILER}" DIRECTORY)
  find_program(CALQUE_MPIRUN NAMES mpirun.${calque_mpi_name} mpirun mpiexec HINTS "${calque_mpi_folder}")
  mark_as_advanced(CALQUE_MPIRUN)
  message(STATUS "Calque: calque::mpi over ${calque_mpi_name}, launcher ${CALQUE_MPIRUN}")
  file(GLOB calque_mpi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/mpi/*.cpp")
  # Objects first: the flags of this build are no part of what is exported.
  add_library(calque_mpi_objects OBJECT ${calque_mpi_sources})
  target_include_directories(calque_mpi_objects PRIVATE "${PROJECT_SOURCE_DIR}/lib")
  target_link_libraries(calque_mpi_objects PRIVATE calque::calque MPI::MPI_CXX calque_flags calque_private_dependencies)
  add_library(calque_mpi $<TARGET_OBJECTS:calque_mpi_objects>)
  add_library(calque::mpi ALIAS calque_mpi)
  set_target_properties(calque_mpi PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME mpi VERSION ${PROJECT_VERSION}
                                              SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
  target_link_libraries(calque_mpi PUBLIC calque::calque MPI::MPI_CXX PRIVATE fmt::fmt)
else()
  message(STATUS "Calque: MPI not found, no calque::mpi, its tests, examples and benchmark")
endif()
