#pragma once
// A tracer whose element type is known at run time only: what the call of a graph gives in a trace.
#include "calque/tracer.h"

namespace calque {

/// A value of a running trace. `as<T>()` gives it its static type; in trees it stands for an AnyArray.
class AnyTracer {
 public:
  /// Without a value; using it throws LeakedTracerError.
  AnyTracer() = default;
  explicit AnyTracer(detail::Handle handle) : handle_(handle) {}
  template <Elem T>
  AnyTracer(const Tracer<T>& x) : handle_(x.handle()) {}

  /// The value in its trace, for functions of namespace detail.
  detail::Handle handle() const { return handle_; }
  /// The extents, known while tracing. Throws LeakedTracerError when the trace has ended, as do `dtype` and `as`.
  Shape shape(Loc loc = Loc::current()) const { return detail::type_of(handle_, loc).shape; }
  /// The element type.
  DType dtype(Loc loc = Loc::current()) const { return detail::type_of(handle_, loc).dtype; }
  /// The tracer with its static type. Throws DTypeError when its elements are not T.
  template <Elem T>
  Tracer<T> as(Loc loc = Loc::current()) const {
    detail::require_dtype(detail::type_of(handle_, loc), dtype_of<T>, loc);
    return Tracer<T>(handle_);
  }

 private:
  detail::Handle handle_{};
};

}  // namespace calque
