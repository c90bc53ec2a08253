# calque::ceres: <calque/ceres.h> beside Ceres Solver (libceres-dev), which the library itself neither links nor knows. It
# is left out where Ceres is not installed. In installations the package has it as a component (calqueConfig.cmake.in).
find_package(Ceres QUIET)
if(Ceres_FOUND)
  add_library(calque_ceres INTERFACE)
  add_library(calque::ceres ALIAS calque_ceres)
  target_link_libraries(calque_ceres INTERFACE calque::calque Ceres::ceres)
else()
  message(STATUS "Calque: Ceres Solver not found, no calque::ceres, its tests, examples and benchmark")
endif()
