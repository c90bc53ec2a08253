// Of the library that has the precompiled header of examples and benchmarks (CalqueProgramHeader.cmake).
