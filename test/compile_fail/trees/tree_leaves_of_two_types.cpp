// EXPECT: tree_leaves: the leaves are of several element types
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f(const cq::Array<float>& a, const cq::Array<double>& b) { (void)cq::tree_leaves(std::tuple{a, b}); }
