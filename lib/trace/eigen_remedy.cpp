// Eigen algorithms that branch on values, identified by the header that compares, and what to call instead.
#include <array>

#include "trace/builder.h"

namespace calque::detail {
namespace {

struct Remedy {
  std::string_view header, instead;
};
constexpr std::string_view kFactorization = "a decomposition of numbers in a function that cq::host_call calls";
// A header is all that is known of the algorithm, so a remedy names each function of it that branches.
constexpr std::array kRemedies{
    Remedy{"/src/Core/Dot.h", "cq::normalized(v) in place of v.normalized()"},
    Remedy{"/src/Core/StableNorm.h", "v.norm(), or cq::norm of the array"},
    Remedy{"/src/Core/Visitor.h", "cq::argmax or cq::argmin of the array in place of maxCoeff(&i) or minCoeff(&i)"},
    Remedy{"/src/Core/Select.h", "cq::where(condition, a, b) in place of condition.select(a, b)"},
    Remedy{"/src/Core/BooleanRedux.h", "cq::all or cq::any of the array, cq::equal(a, b) in place of a == b"},
    Remedy{"/src/Core/functors/",
           "cq::equal(a, b) in place of a == b; element by element compare arrays, as in cq::Tracer<double>(m) > 0"},
    Remedy{"/src/Core/Fuzzy.h", "cq::all(abs(a - b) <= tolerance) of the arrays in place of isApprox"},
    Remedy{"/src/Geometry/Quaternion.h",
           "cq::slerp(t, a, b) in place of a.slerp(t, b), q.conjugate() of a unit quaternion in place of q.inverse(), "
           "and cq::where for the cases of a quaternion or an AngleAxis made of a matrix"},
    Remedy{"/src/Geometry/AngleAxis.h", "atan2 and cq::where for the cases of an AngleAxis made of a quaternion"},
    Remedy{"/src/Geometry/EulerAngles.h", "atan2 and asin of the coefficients in place of eulerAngles()"},
    Remedy{"/src/Geometry/OrthoMethods.h", "cq::where for the cases of unitOrthogonal()"},
    Remedy{"/src/Cholesky/", "cq::linalg::cholesky(a), and cq::linalg::cho_solve(l, b) with its factor"},
    Remedy{"/src/LU/",
           "cq::linalg::inv(a) and cq::linalg::det(a) in place of those with a check, cq::linalg::solve(a, b) or "
           "cq::linalg::lu(a)"},
    Remedy{"/src/Householder/", "cq::linalg::qr(a), or cq::linalg::lstsq(a, b)"},
    Remedy{"/src/QR/", "cq::linalg::qr(a), or cq::linalg::lstsq(a, b)"},
    Remedy{"/src/SVD/", "cq::linalg::svd(a), cq::linalg::pinv(a) or cq::linalg::lstsq(a, b)"},
    Remedy{"/src/Jacobi/", kFactorization},
    Remedy{"/src/Eigenvalues/", "cq::linalg::eigh(a) of a symmetric matrix, or cq::linalg::eig(a)"},
    Remedy{"/src/", "functions of arrays, such as cq::where, cq::norm and cq::normalized"},
};

}  // namespace

std::string_view instead_of_eigen() {
  const std::string_view header = last_eigen_header();
  const size_t eigen = header.rfind("Eigen/src/");
  if (eigen == std::string_view::npos) return {};
  const std::string_view part = header.substr(eigen + 5);
  for (const Remedy& r : kRemedies) {
    if (part.starts_with(r.header)) return r.instead;
  }
  return {};
}

}  // namespace calque::detail
