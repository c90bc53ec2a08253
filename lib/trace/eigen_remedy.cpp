// Eigen algorithms that branch on values, identified by the header that compares, and what to call instead.
#include <array>

#include "trace/builder.h"

namespace calque::detail {
namespace {

struct Remedy {
  std::string_view header, instead;
};
constexpr std::string_view kDecomposition =
    "inverse() and determinant() of matrices of a fixed size up to 4 x 4, which do not branch, or the decomposition of "
    "numbers through cq::host_call";
constexpr std::array kRemedies{
    Remedy{"/src/Core/Dot.h", "cq::normalized(v) in place of v.normalized()"},
    Remedy{"/src/Core/StableNorm.h", "v.norm(), or cq::norm of the array"},
    Remedy{
        "/src/Core/Visitor.h",
        "cq::argmax or cq::argmin of the array in place of maxCoeff(&i); a decomposition that pivots wants numbers, as "
        "cq::host_call passes them"},
    Remedy{"/src/Core/Select.h", "cq::where(condition, a, b) in place of condition.select(a, b)"},
    Remedy{"/src/Core/BooleanRedux.h", "cq::all or cq::any of the array, cq::equal(a, b) in place of a == b"},
    Remedy{"/src/Core/functors/",
           "cq::equal(a, b) in place of a == b; element by element compare arrays, as in cq::Tracer<double>(m) > 0"},
    Remedy{"/src/Core/Fuzzy.h", "cq::all(abs(a - b) <= tolerance) of the arrays in place of isApprox"},
    Remedy{"/src/Geometry/Quaternion.h", "cq::slerp(t, a, b) in place of a.slerp(t, b)"},
    Remedy{"/src/Cholesky/", kDecomposition},
    Remedy{"/src/LU/", kDecomposition},
    Remedy{"/src/Householder/", kDecomposition},
    Remedy{"/src/QR/", kDecomposition},
    Remedy{"/src/SVD/", kDecomposition},
    Remedy{"/src/Jacobi/", kDecomposition},
    Remedy{"/src/Eigenvalues/", kDecomposition},
    Remedy{"/src/", "functions of arrays, such as cq::where, cq::norm and cq::normalized"},
};

}  // namespace

std::string_view instead_of_eigen() {
  const std::string_view header = last_foreign_header();
  const size_t eigen = header.rfind("Eigen/src/");
  if (eigen == std::string_view::npos) return {};
  const std::string_view part = header.substr(eigen + 5);
  for (const Remedy& r : kRemedies) {
    if (part.starts_with(r.header)) return r.instead;
  }
  return {};
}

}  // namespace calque::detail
