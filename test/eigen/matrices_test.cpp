// Eigen objects as leaves: the memory of views, evaluated expressions, and arrays as matrices.
#include <gtest/gtest.h>

#include "calque/eigen.h"

#include "classes/traced.h"

namespace calque::test {
namespace {

template <class E>
detail::LeafView view(const E& e) {
  return dense<E>::view(e);
}
/// The elements of a view, in the order of Eigen's.
template <class E>
void expect_elements(const E& e) {
  using T = typename E::Scalar;
  const detail::LeafView v = view(e);
  EXPECT_EQ(v.dtype, dtype_of<T>);
  ASSERT_EQ(v.shape, dense<E>::shape(e));
  for (Eigen::Index i = 0; i < e.rows(); ++i) {
    for (Eigen::Index j = 0; j < e.cols(); ++j) {
      const int64_t at = v.shape.rank() == 2 ? i * v.strides[0] + j * v.strides[1] : (i + j) * v.strides[0];
      EXPECT_EQ(static_cast<const T*>(v.data)[at], e(i, j));
      EXPECT_EQ(static_cast<const T*>(v.data) + at, &e.coeffRef(i, j));
    }
  }
  const AnyArray copy = dense<E>::copy(e);
  for (Eigen::Index i = 0; i < e.rows(); ++i) {
    for (Eigen::Index j = 0; j < e.cols(); ++j) EXPECT_EQ(copy.data_as<T>()[i * e.cols() + j], e(i, j));
  }
}
Eigen::MatrixXf counted(int rows, int columns) {
  Eigen::MatrixXf m(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) m(i, j) = static_cast<float>(10 * i + j);
  }
  return m;
}
template <class E, class A>
void made(const A& array) {
  const E e = array;
  EXPECT_GE(e.size(), 0);
}
std::string message(const std::function<void()>& f) { return message_of<ShapeError>(f); }

TEST(EigenViews, NameTheElementsWhereTheyLie) {
  Eigen::MatrixXf m = counted(4, 5);
  expect_elements(m);
  Eigen::Matrix<float, 4, 5, Eigen::RowMajor> r = m;
  expect_elements(r);
  EXPECT_TRUE(view(r).row_major());
  EXPECT_FALSE(view(m).row_major());
  Eigen::Matrix3d fixed = Eigen::Matrix3d::Random();
  expect_elements(fixed);
  Eigen::ArrayXXi array = Eigen::ArrayXXi::Random(2, 3);
  expect_elements(array);
}

TEST(EigenViews, OfVectorsHaveRankOne) {
  Eigen::VectorXf v = counted(5, 1);
  expect_elements(v);
  Eigen::RowVectorXd r = Eigen::RowVectorXd::Random(4);
  expect_elements(r);
  EXPECT_EQ(view(v).shape, Shape{5});
  Eigen::MatrixXf m = counted(4, 5);
  EXPECT_EQ(dense<decltype(m.row(1))>::shape(m.row(1)), Shape{5});
}

TEST(EigenViews, OfBlocksMapsAndTransposesAreStrided) {
  Eigen::MatrixXf m = counted(6, 5);
  expect_elements(m.block(1, 2, 3, 2));
  expect_elements(m.row(2));
  expect_elements(m.col(3));
  expect_elements(m.transpose());
  Eigen::Map<Eigen::MatrixXf, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> map(m.data(), 2, 2, {12, 2});
  expect_elements(map);
  Eigen::Ref<Eigen::MatrixXf> ref(m);
  expect_elements(ref);
}

TEST(EigenViews, ExpressionsAreEvaluated) {
  const Eigen::MatrixXf a = counted(2, 3), b = counted(3, 4);
  const auto product = a * b;
  using P = std::remove_cvref_t<decltype(product)>;
  static_assert(dense<P>::value && !dense<P>::in_place && !dense<P>::owns);
  const AnyArray copy = dense<P>::copy(product);
  const Eigen::MatrixXf want = product;
  EXPECT_EQ(copy.shape(), (Shape{2, 4}));
  EXPECT_EQ(copy.data_as<float>()[5], want(1, 1));
  const AnyArray sum = dense<std::remove_cvref_t<decltype(a + a)>>::copy(a + a);
  EXPECT_EQ(sum.data_as<float>()[1], 2);
}

TEST(EigenViews, OfManyRowsCopyInTiles) {
  const Eigen::MatrixXf m = counted(100, 70);
  const Array<float> a = Array<float>::from(m);
  for (int i = 0; i < 100; i += 7) {
    for (int j = 0; j < 70; j += 3) EXPECT_EQ(a(i, j), m(i, j));
  }
  const Eigen::MatrixXf back = a;
  EXPECT_EQ(back, m);
}

TEST(EigenResults, ArraysBecomeMatricesOfTheirRank) {
  const Array<float> a = {{1, 2, 3}, {4, 5, 6}};
  const Eigen::MatrixXf m = a;
  EXPECT_EQ(m.rows(), 2);
  EXPECT_EQ(m(1, 0), 4);
  const Eigen::Matrix<float, 2, 3> fixed = a;
  EXPECT_EQ(fixed(0, 2), 3);
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> r(a);
  EXPECT_EQ(r(1, 2), 6);
  const Eigen::ArrayXXf array{a};
  EXPECT_EQ(array(1, 1), 5);
  const Array<double> v = {1, 2, 3};
  const Eigen::VectorXd column = v;
  const Eigen::RowVectorXd row = v;
  const Eigen::Vector3d three = v;
  EXPECT_EQ(column(2) + row(1) + three(0), 6);
  Eigen::MatrixXf assigned;
  assigned = a;
  EXPECT_EQ(assigned, m);
}

TEST(EigenResults, ThatDoNotFitAreShapeErrors) {
  const Array<float> a = Array<float>::zeros({2, 3, 4}), m = Array<float>::zeros({2, 3}), v = Array<float>::zeros({3});
  EXPECT_EQ(message([&] { made<Eigen::MatrixXf>(a); }),
            "eigen: a matrix is made from an array of rank 2, got f32[2,3,4]");
  EXPECT_EQ(message([&] { made<Eigen::MatrixXf>(v); }), "eigen: a matrix is made from an array of rank 2, got f32[3]");
  EXPECT_EQ(message([&] { made<Eigen::VectorXf>(a); }),
            "eigen: a vector is made from an array of rank 1, got f32[2,3,4]");
  EXPECT_EQ(message([&] { made<Eigen::Matrix<float, 3, 3>>(m); }),
            "eigen: the matrix has 3 rows and 3 columns, got f32[2,3]");
  EXPECT_EQ(message([&] { made<Eigen::Vector2f>(v); }), "eigen: the matrix has 2 rows and 1 columns, got f32[3]");
  using Bounded = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, 0, 2, 2>;
  EXPECT_EQ(message([&] { made<Bounded>(m); }),
            "eigen: the matrix has at most 2 rows and at most 2 columns, got f32[2,3]");
  message([&] { made<Eigen::MatrixXf>(Array<float>()); });
}

TEST(EigenResults, ConversionsAreOfExactlyTheElementType) {
  static_assert(std::is_convertible_v<Array<float>, Eigen::MatrixXf>);
  static_assert(!std::is_convertible_v<Array<float>, Eigen::MatrixXd>);
  static_assert(!std::is_convertible_v<Array<float>, Eigen::Map<Eigen::MatrixXf>>);
  static_assert(std::is_convertible_v<Array<int64_t>, Eigen::Matrix<long long, Eigen::Dynamic, 1>>);
}

}  // namespace
}  // namespace calque::test
