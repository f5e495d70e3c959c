/// Stage 9: trees + rows → leaves, margins.
#ifndef XGBGPU_PREDICT_PREDICT_H_
#define XGBGPU_PREDICT_PREDICT_H_

#include "matrix/matrix.h"
#include "xgbgpu/span.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// The position of a row whose leaf is unknown.
constexpr NodeIndex kUnknownLeaf = -1;

/// For every row with positions[row] == kUnknownLeaf: positions[row] = ~leaf, the leaf's complement, so that rows
/// outside the tree's sample can be distinguished (as in XGBoost).
/// Cost  depth(tree) bin look-ups per such row
/// Same  bit-equal on every backend
void FindLeaves(QuantisedMatrix const& matrix, Tree const& tree, Span<NodeIndex> positions, int threads);

/// Adds margins[i · stride] += node_values[leaf of row i]. `positions` are the result of FindLeaves.
void AddLeafValues(Span<NodeIndex const> positions, Span<float const> node_values, float* margins, std::size_t stride,
                   int threads);

}  // namespace xgbgpu::host

#endif  // XGBGPU_PREDICT_PREDICT_H_
