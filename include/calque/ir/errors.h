#pragma once
// Every exception the library throws derives from calque::Error, and every message reads
// `operation: what was expected, what came (file.cpp:line)`.
#include <stdexcept>
#include <string>

namespace calque {

/// Base of all exceptions of the library.
struct Error : std::runtime_error {
  using runtime_error::runtime_error;
};
/// Shapes, ranks, axes, static indices or element counts do not fit.
struct ShapeError : Error {
  using Error::Error;
};
/// An element type is not accepted, or two element types that must agree differ.
struct DTypeError : Error {
  using Error::Error;
};
/// A concrete value was asked of a tracer, which has none while tracing.
struct ConcretizationError : Error {
  using Error::Error;
};
/// A tracer was used after its trace ended, or without one.
struct LeakedTracerError : Error {
  using Error::Error;
};
/// A function cannot be differentiated as asked.
struct GradError : Error {
  using Error::Error;
};
/// A text (graph, einsum specification, data file) is malformed; the message gives line and column.
struct ParseError : Error {
  using Error::Error;
};
/// A graph breaks a rule of the IR, or cannot be compiled for the target.
struct CompileError : Error {
  using Error::Error;
};
/// A device is missing, out of memory, or differs between operands.
struct DeviceError : Error {
  using Error::Error;
};
/// The cache of compiled functions cannot be read or written.
struct CacheError : Error {
  using Error::Error;
};

}  // namespace calque
