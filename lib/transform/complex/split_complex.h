#pragma once
#include "calque/ir/graph.h"

#include "ir/pass_log.h"

namespace calque::transform {

inline constexpr PassInfo kSplitComplexPass = {
    "split-complex", "writes complex numbers as pairs of real ones, and simplifies the result"};

/// Whether a value of the graph, or of a sub-graph, is complex.
bool has_complex(const Graph& graph);

/// The type of the memory of complex numbers, real and imaginary parts in turn: c64[3] is f32[3,2]. Other types are
/// their own.
Type joined_type(const Type& type);
/// The strides of that memory, for strides of complex numbers. Empty strides, which mean row-major ones, stay empty.
Shape::Dims joined_strides(DType dtype, const Shape::Dims& strides);

/// The graph on real numbers: an input or output of type t becomes one of joined_type(t).
///
/// Each complex value has two forms, made when they are read: its parts (two real values of its shape), and joined (one
/// real value with a last dimension of 2). Arithmetic, reductions and control flow are on parts; views and indexing
/// follow their operand; products of matrices, host functions, inputs and outputs are joined. A matrix of complex
/// numbers in memory is a real matrix of twice the columns, so a product is one real product, whose right factor has
/// for each element the 2 x 2 matrix [re, im; -im, re].
///
/// What has no form in real numbers (the qr of complex matrices) is a host call of the reference evaluator.
Graph split_complex(const Graph& graph);

/// The primitive that such a host call evaluates; empty for functions of the user.
std::string_view evaluated_primitive(const Opaque& function);

}  // namespace calque::transform
