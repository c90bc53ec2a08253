#pragma once
// Eigen interoperability: dense matrices are leaves of trees, read in place; arrays convert to matrices; matrices of
// tracers compute with Eigen's arithmetic, for which these traits declare calque::Tracer to be a real number.
#include <limits>
#include <vector>

#include <Eigen/Dense>
#include <Eigen/Geometry>

#include "calque/calque.h"
#include "calque/detail/pack.h"

/// The limits of a tracer are those of its element type.
template <class T>
struct std::numeric_limits<calque::Tracer<T>> : std::numeric_limits<T> {};

namespace Eigen {

template <class T>
struct NumTraits<calque::Tracer<T>> : GenericNumTraits<calque::Tracer<T>> {
  using Real = calque::Tracer<T>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = T;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 1,
    AddCost = 3,
    MulCost = 3
  };
  static Real epsilon() { return NumTraits<T>::epsilon(); }
  static Real dummy_precision() { return NumTraits<T>::dummy_precision(); }
  static Real highest() { return NumTraits<T>::highest(); }
  static Real lowest() { return NumTraits<T>::lowest(); }
  static Real infinity() { return NumTraits<T>::infinity(); }
  static Real quiet_NaN() { return NumTraits<T>::quiet_NaN(); }
  static int digits10() { return NumTraits<T>::digits10(); }
};
template <class T, class Operation>
struct ScalarBinaryOpTraits<calque::Tracer<T>, T, Operation> {
  using ReturnType = calque::Tracer<T>;
};
template <class T, class Operation>
struct ScalarBinaryOpTraits<T, calque::Tracer<T>, Operation> {
  using ReturnType = calque::Tracer<T>;
};

}  // namespace Eigen

namespace calque {

namespace detail {
template <class S>
concept EigenElement = TracerLike<S> || std::is_arithmetic_v<S> || Elem<S>;

/// The Eigen class that E is or derives from: a segment of a vector derives from a block.
template <class D>
std::type_identity<D> eigen_base(const Eigen::DenseBase<D>*);
template <class D>
std::type_identity<D> eigen_matrix_base(const Eigen::MatrixBase<D>*);
template <class E>
concept EigenDense = std::is_class_v<E> && requires(const E* e) { detail::eigen_base(e); };
template <class E>
concept EigenMatrix = EigenDense<E> && requires(const E* e) { detail::eigen_matrix_base(e); };

/// True if the elements are in memory, with strides. Eigen sets DirectAccessBit also for some expressions that have no
/// data pointer, such as those with index sequences, so that is checked too.
template <class E>
concept EigenDirectAccess = (static_cast<int>(E::Flags) & Eigen::DirectAccessBit) != 0 && requires(const E& e) {
  { e.data() } -> std::convertible_to<const typename E::Scalar*>;
  e.innerStride();
};

/// True if E owns its elements, or everything that they are computed from. Of expressions only those without operands
/// do, such as Zero(), 2.0 * Ones(), Random() and LinSpaced(n, a, b): all others refer to their operands, and a
/// NullaryExpr may refer to what its function captures.
template <class E>
    struct eigen_holds : std::bool_constant < requires(const E* e) {
  []<class Object>(const Eigen::PlainObjectBase<Object>*) {}(e);
}>{};
template <class E>
using eigen_holds_operand =
    std::bool_constant<!std::is_reference_v<typename Eigen::internal::ref_selector<std::remove_const_t<E>>::type> &&
                       eigen_holds<std::remove_const_t<E>>::value>;
template <class S, class Object>
struct eigen_holds<Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<S>, Object>> : std::true_type {};
template <class S, class Object>
struct eigen_holds<Eigen::CwiseNullaryOp<Eigen::internal::scalar_identity_op<S>, Object>> : std::true_type {};
template <class S, class Object>
struct eigen_holds<Eigen::CwiseNullaryOp<Eigen::internal::scalar_random_op<S>, Object>> : std::true_type {};
template <class S, class Object>
struct eigen_holds<Eigen::CwiseNullaryOp<Eigen::internal::linspaced_op<S>, Object>> : std::true_type {};
template <class Operation, class E>
struct eigen_holds<Eigen::CwiseUnaryOp<Operation, E>> : eigen_holds_operand<E> {};
template <class Operation, class L, class R>
struct eigen_holds<Eigen::CwiseBinaryOp<Operation, L, R>>
    : std::conjunction<eigen_holds_operand<L>, eigen_holds_operand<R>> {};

template <class Object, class S>
struct rescaled;
template <template <class, int, int, int, int, int> class Object, class T, int R, int C, int O, int MR, int MC, class S>
struct rescaled<Object<T, R, C, O, MR, MC>, S> {
  using type = Object<S, R, C, O, MR, MC>;
};

template <class S>
struct eigen_scalar {
  using type = canon_t<S>;
};
template <class T>
struct eigen_scalar<Tracer<T>> {
  using type = Tracer<T>;
};
}  // namespace detail

/// Any dense Eigen expression is a leaf: a type that is a vector at compile time has shape [n], any other [rows,
/// columns]. Objects, maps, references and blocks are read in place; other expressions are evaluated first.
/// Eigen::Matrix and Eigen::Array can be made from an array (ShapeError when rank or extents do not fit).
template <class E>
  requires(detail::EigenDense<E> && detail::EigenElement<typename E::Scalar>)
struct dense<E> : std::true_type {
  using scalar = typename detail::eigen_scalar<typename E::Scalar>::type;
  static constexpr bool of_tracers = TracerLike<scalar>;
  static constexpr bool owns = std::derived_from<E, Eigen::PlainObjectBase<E>>;
  static constexpr bool borrows = !detail::eigen_holds<E>::value;
  static constexpr bool in_place = detail::EigenDirectAccess<E>;
  static constexpr bool vector = E::IsVectorAtCompileTime;
  /// The object of these extents that owns elements of type S.
  template <class S>
  using over = typename detail::rescaled<typename E::PlainObject, S>::type;

  static Shape shape(const E& e) {
    if constexpr (vector) {
      return Shape{e.size()};
    } else {
      return Shape{e.rows(), e.cols()};
    }
  }

  // ---- elements that are numbers

  static detail::LeafView view(const E& e)
    requires(!of_tracers && in_place)
  {
    detail::LeafView v;
    v.dtype = dtype_of<scalar>;
    v.data = e.data();
    v.shape = shape(e);
    v.strides = strides(e);
    return v;
  }
  static AnyArray copy(const E& e)
    requires(!of_tracers)
  {
    if constexpr (in_place) {
      return detail::copy_of(view(e));
    } else {
      return dense<typename E::PlainObject>::copy(e.eval());
    }
  }
  static E make(const Array<scalar>& array, Location location = {})
    requires(owns && !of_tracers)
  {
    const AnyArray& any = array.any();
    detail::host_data(any, location);
    E e = sized(any.type(), location);
    detail::copy_to(any, e.data(), any.rank() == 2 ? strides_of_matrix(e) : strides(e));
    return e;
  }

  // ---- elements that are tracers

  static scalar pack(const E& e, Location location = {})
    requires of_tracers
  {
    const typename E::PlainObject value(e);
    std::vector<detail::Handle> elements;
    elements.reserve(static_cast<size_t>(value.size()));
    for (Eigen::Index i = 0; i < value.rows(); ++i) {
      for (Eigen::Index j = 0; j < value.cols(); ++j) elements.push_back(value(i, j).handle());
    }
    return scalar(detail::pack_elements(elements, {dtype_of<elem_t<scalar>>, shape(e)}, location));
  }
  static E make(const scalar& tracer, Location location = {})
    requires(owns && of_tracers)
  {
    E e = sized(detail::type_of(tracer.handle(), location), location);
    const std::vector<detail::Handle> elements = detail::unpack_elements(tracer.handle(), location);
    for (Eigen::Index i = 0; i < e.rows(); ++i) {
      for (Eigen::Index j = 0; j < e.cols(); ++j) {
        e(i, j) = scalar(elements[static_cast<size_t>(i * e.cols() + j)]);
      }
    }
    return e;
  }
  /// An object of numbers with its elements as literals of the running trace.
  template <class N>
  static E lift(const N& numbers)
    requires(owns && of_tracers)
  {
    return numbers.unaryExpr([](const typename N::Scalar& x) { return scalar(elem_t<scalar>(x)); });
  }

 private:
  static E sized(const Type& type, Location location) {
    constexpr detail::MatrixLimits limits{E::RowsAtCompileTime, E::ColsAtCompileTime, E::MaxRowsAtCompileTime,
                                          E::MaxColsAtCompileTime, vector};
    const detail::MatrixShape shape = detail::matrix_shape(type, limits, location);
    E e;
    e.resize(static_cast<Eigen::Index>(shape.rows), static_cast<Eigen::Index>(shape.columns));
    return e;
  }
  static Shape::Dims strides_of_matrix(const E& e) {
    Shape::Dims strides;
    strides.push_back(e.rowStride());
    strides.push_back(e.colStride());
    return strides;
  }
  static Shape::Dims strides(const E& e) {
    if constexpr (vector) {
      Shape::Dims strides;
      strides.push_back(e.innerStride());
      return strides;
    } else {
      return strides_of_matrix(e);
    }
  }
};

/// Typed parameters, members, carries and results: Eigen objects of tracers, with Eigen's own arithmetic.
/// `[](const cq::Matrix<double, 3, 3>& a, const cq::Vector<double, 3>& x) -> cq::Vector<double, 3> { return a * x; }`
/// takes data of these shapes (ShapeError for others).
template <class T, int Rows = Eigen::Dynamic, int Columns = Eigen::Dynamic>
using Matrix = Eigen::Matrix<Tracer<T>, Rows, Columns>;
/// A column of tracers, `cq::Matrix<T, Size, 1>`.
template <class T, int Size = Eigen::Dynamic>
using Vector = Eigen::Matrix<Tracer<T>, Size, 1>;

namespace detail {
template <class E>
concept EigenNumbers = EigenDense<E> && dense<E>::value && !dense<E>::of_tracers;
/// The Eigen object beside an array in a sum or difference, or of one element type.
template <class E, class T>
concept BesideArray = EigenNumbers<E> && std::same_as<typename dense<E>::scalar, T>;
/// The other factor of a product of matrices, or of an elementwise one of Eigen::Array.
template <class E, bool ArrayIsLeft>
struct factor {
  using type = typename E::PlainObject;
};
template <EigenMatrix E>
struct factor<E, true> {
  using type = Eigen::Matrix<typename E::Scalar, Eigen::Dynamic, E::RowsAtCompileTime>;
};
template <EigenMatrix E>
struct factor<E, false> {
  using type = Eigen::Matrix<typename E::Scalar, E::ColsAtCompileTime, Eigen::Dynamic>;
};
template <class E, bool ArrayIsLeft, class T>
typename factor<E, ArrayIsLeft>::type factor_of(const Array<T>& a) {
  if constexpr (EigenMatrix<E>) {
    if (a.rank() == 1) return a.reshape({-1, 1});
  }
  return a;
}
}  // namespace detail

// Results of calls in Eigen's arithmetic: an array beside an Eigen object of its element type converts to what the
// Eigen object asks for. The results are Eigen objects. Throw ShapeError when the array does not fit.

/// The sum: the array is of the Eigen object's shape.
template <class T, detail::BesideArray<T> E>
[[nodiscard]] typename E::PlainObject operator+(const Array<T>& a, const E& b) {
  return typename E::PlainObject(a) + b;
}
template <class T, detail::BesideArray<T> E>
[[nodiscard]] typename E::PlainObject operator+(const E& a, const Array<T>& b) {
  return a + typename E::PlainObject(b);
}
/// The difference: the array is of the Eigen object's shape.
template <class T, detail::BesideArray<T> E>
[[nodiscard]] typename E::PlainObject operator-(const Array<T>& a, const E& b) {
  return typename E::PlainObject(a) - b;
}
template <class T, detail::BesideArray<T> E>
[[nodiscard]] typename E::PlainObject operator-(const E& a, const Array<T>& b) {
  return a - typename E::PlainObject(b);
}
/// The product of matrices beside an Eigen::Matrix, for which an array of rank 1 is a column; elementwise beside an
/// Eigen::Array.
template <class T, detail::BesideArray<T> E>
[[nodiscard]] auto operator*(const Array<T>& a, const E& b) {
  return (detail::factor_of<E, true>(a) * b).eval();
}
template <class T, detail::BesideArray<T> E>
[[nodiscard]] auto operator*(const E& a, const Array<T>& b) {
  return (a * detail::factor_of<E, false>(b)).eval();
}
/// Adds an array of the Eigen object's shape to it.
template <class T, detail::BesideArray<T> E>
E& operator+=(E& a, const Array<T>& b) {
  a += typename E::PlainObject(b);
  return a;
}
/// Subtracts an array of the Eigen object's shape from it.
template <class T, detail::BesideArray<T> E>
E& operator-=(E& a, const Array<T>& b) {
  a -= typename E::PlainObject(b);
  return a;
}

}  // namespace calque

#include "calque/detail/eigen_decompositions.h"
#include "calque/detail/eigen_functions.h"
