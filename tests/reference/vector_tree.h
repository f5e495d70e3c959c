/// Grows one tree of vectors by brute force.
#ifndef XGBGPU_TESTS_REFERENCE_VECTOR_TREE_H_
#define XGBGPU_TESTS_REFERENCE_VECTOR_TREE_H_

#include <vector>

#include "reference/gradient.h"
#include "reference/matrix.h"
#include "reference/tree.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/params.h"
#include "xgbgpu/vector_tree.h"

namespace xgbgpu::reference {

/// `gradients`: the wide format of each output, zero outside the sample.
VectorTree GrowVectorTree(Bins const& bins, Cuts const& cuts, std::vector<FixedPoint> const& gradients,
                          TrainParams const& p, std::vector<RowIndex> const& sample, FeatureSet const& features);

}  // namespace xgbgpu::reference

#endif  // XGBGPU_TESTS_REFERENCE_VECTOR_TREE_H_
