#pragma once
// Every exception that the library throws derives from calque::Error. Messages have the form
// `operation: expected and actual (file.cpp:line)`.
#include <stdexcept>
#include <string>

namespace calque {

/// Base of all exceptions of the library.
struct Error : std::runtime_error {
  using runtime_error::runtime_error;
};
/// Incompatible shapes, ranks, axes, static indices or element counts.
struct ShapeError : Error {
  using Error::Error;
};
/// An element type is not accepted, or two element types that must agree differ.
struct DTypeError : Error {
  using Error::Error;
};
/// A concrete value was requested from a tracer, which has none while tracing.
struct ConcretizationError : Error {
  using Error::Error;
};
/// A tracer was used after its trace ended, or outside a trace.
struct LeakedTracerError : Error {
  using Error::Error;
};
/// A function cannot be differentiated as requested.
struct GradError : Error {
  using Error::Error;
};
/// A text (graph, einsum specification, data file) is malformed; the message gives line and column.
struct ParseError : Error {
  using Error::Error;
};
/// A graph violates a rule of the IR, or cannot be compiled for the target.
struct CompileError : Error {
  using Error::Error;
};
/// A device is missing, out of memory, or differs between operands.
struct DeviceError : Error {
  using Error::Error;
};
/// The on-disk cache of compiled functions cannot be read or written.
struct CacheError : Error {
  using Error::Error;
};

}  // namespace calque
