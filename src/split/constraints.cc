// Makes the tables of constraints and the limits of nodes.
#include "split/constraints.h"

#include <algorithm>

#include "base/message.h"

namespace xgbgpu {

Constraints::Constraints(TrainParams const& params, FeatureIndex features) {
  if (!params.monotone_constraints.empty()) {
    std::size_t const given = params.monotone_constraints.size();
    if (given > features) {
      Throw<InvalidArgument>("Parameter monotone_constraints has ", given,
                             " elements; allowed: at most one for each of the ", features, " features");
    }
    directions_.assign(features, 0);
    std::transform(params.monotone_constraints.begin(), params.monotone_constraints.end(), directions_.begin(),
                   [](int direction) { return static_cast<std::int8_t>(direction); });
  }
  auto const& sets = params.interaction_constraints;
  if (sets.empty()) return;
  set_words_ = static_cast<std::uint32_t>((sets.size() + 31) / 32);
  sets_of_features_.assign(std::size_t{features} * set_words_, 0);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (FeatureIndex f : sets[s]) {
      if (f >= features) {
        Throw<InvalidArgument>("Parameter interaction_constraints has feature ", f, "; allowed: 0 to ", features - 1,
                               ", since the data have ", features, " features");
      }
      sets_of_features_[std::size_t{f} * set_words_ + s / 32] |= 1U << (s % 32);
    }
  }
}

void NodeLimits::Reset(Constraints const& constraints) {
  constraints_ = &constraints;
  bounds_.assign(constraints.monotone() ? 1 : 0, WeightBounds{});
  sets_.assign(constraints.set_words(), 0);
}

void NodeLimits::AddChildren(SplitParams const& params, NodeIndex parent, NodeIndex left, SplitCandidate const& split) {
  auto const from = static_cast<std::size_t>(parent), first = static_cast<std::size_t>(left);
  if (constraints_->monotone()) {
    int const direction = constraints_->directions()[split.feature];
    bounds_.resize(std::max(bounds_.size(), first + 2));
    for (std::size_t right = 0; right < 2; ++right) {
      bounds_[first + right] = BoundsOfChild(params, bounds_[from], direction, split.left, split.right, right != 0);
    }
  }
  if (constraints_->interaction()) {
    if (parent == 0) first_feature_ = split.feature;
    std::size_t const words = constraints_->set_words();
    sets_.resize(std::max(sets_.size(), (first + 2) * words));
    for (std::size_t w = 0; w < words; ++w) {
      std::uint32_t const own = SetsOf(split.feature)[w];
      std::uint32_t const common = parent == 0 ? own : sets_[from * words + w] & own;
      sets_[first * words + w] = sets_[(first + 1) * words + w] = common;
    }
  }
}

void NodeLimits::Filter(NodeIndex node, std::vector<FeatureIndex>* features) const {
  if (!constraints_->interaction() || node == 0) return;
  std::uint32_t const words = constraints_->set_words();
  std::uint32_t const* const sets = sets_.data() + static_cast<std::size_t>(node) * words;
  auto const may_not = [&](FeatureIndex f) { return !MayMeet(sets, SetsOf(f), words, f == first_feature_); };
  features->erase(std::remove_if(features->begin(), features->end(), may_not), features->end());
}

}  // namespace xgbgpu
