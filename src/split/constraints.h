/// Constraints on trees: monotone effects of features, and features that may not meet on a path.
#ifndef XGBGPU_SPLIT_CONSTRAINTS_H_
#define XGBGPU_SPLIT_CONSTRAINTS_H_

#include <cstdint>
#include <vector>

#include "split/constraint_ops.h"
#include "split/split.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The parameters' constraints as tables over the features.
///
/// From  XGBoost 1.7's hist: docs/adr/0010-constraints.md
class Constraints {
 public:
  /// No constraints.
  Constraints() = default;
  /// Throws InvalidArgument if a constraint names a feature that does not exist.
  Constraints(TrainParams const& params, FeatureIndex features);

  bool monotone() const { return !directions_.empty(); }
  bool interaction() const { return set_words_ != 0; }
  /// [features] -1, 0 or 1; empty without monotone constraints.
  std::vector<std::int8_t> const& directions() const { return directions_; }
  /// [features, set_words] bit set of the interaction sets that hold the feature.
  std::vector<std::uint32_t> const& sets_of_features() const { return sets_of_features_; }
  std::uint32_t set_words() const { return set_words_; }  ///< 0 without interaction constraints

  friend bool operator==(Constraints const& a, Constraints const& b) {
    return a.directions_ == b.directions_ && a.sets_of_features_ == b.sets_of_features_;
  }
  friend bool operator!=(Constraints const& a, Constraints const& b) { return !(a == b); }

 private:
  std::vector<std::int8_t> directions_;
  std::vector<std::uint32_t> sets_of_features_;
  std::uint32_t set_words_{0};
};

/// Limits of constraints on the nodes of one tree, from the root downwards. Free of cost without constraints.
class NodeLimits {
 public:
  /// Begins a tree of one node. `constraints` must outlive the tree.
  void Reset(Constraints const& constraints);
  /// Adds nodes `left` and left + 1, the children of `parent` by `split`.
  void AddChildren(SplitParams const& params, NodeIndex parent, NodeIndex left, SplitCandidate const& split);

  WeightBounds bounds(NodeIndex node) const {
    return bounds_.empty() ? WeightBounds{} : bounds_[static_cast<std::size_t>(node)];
  }
  /// Removes the features that the node may not be split by.
  void Filter(NodeIndex node, std::vector<FeatureIndex>* features) const;

 private:
  std::uint32_t const* SetsOf(FeatureIndex feature) const {
    return constraints_->sets_of_features().data() + std::size_t{feature} * constraints_->set_words();
  }

  Constraints const* constraints_{nullptr};
  std::vector<WeightBounds> bounds_;  ///< [nodes] or empty
  std::vector<std::uint32_t>
      sets_;  ///< [nodes, set_words] sets that hold every feature above the node; unused for the root
  FeatureIndex first_feature_{0};  ///< the feature that splits the root
};

}  // namespace xgbgpu

#endif  // XGBGPU_SPLIT_CONSTRAINTS_H_
