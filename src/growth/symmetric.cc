// Grows symmetric trees on the host, level by level.
#include "growth/symmetric.h"

#include <algorithm>
#include <numeric>

namespace xgbgpu::host {

void SymmetricGrowth::Begin(TrainParams const& train, LevelParams const& params, FeatureSampler const& features,
                            Constraints const& constraints, Span<GradientSum const> root) {
  tree_.Begin(train, params, features, constraints, root);
  slots_->Begin();
  parents_ = {kNoNode};
  BeginLevel();
}

void SymmetricGrowth::BeginLevel() {
  planned_ = 0;
  is_chosen_ = false;
  done_.clear();
  splits_->BeginLevel(tree_.MayDivide() ? tree_.Features() : std::vector<FeatureIndex>{});
}

bool SymmetricGrowth::Plan(Level* level) {
  *level = {};
  slots_->BeginLevel();
  level->depth = tree_.depth();
  if (tree_.MayDivide() && planned_ == parents_.size()) {
    if (!is_chosen_) Choose();
    if (split_.score > kLeastGain) {
      if (SumAgain(level)) return true;
      Divide(level);
    } else {
      parents_.clear();
    }
  }
  if (tree_.MayDivide()) PlanFamilies(level);
  if (!level->empty()) return true;
  tree_.Cut();
  return false;
}

void SymmetricGrowth::Choose() {
  split_ = splits_->Best();
  is_chosen_ = true;
  done_.clear();
  lefts_.resize(tree_.active().size() * outputs_);
  unknown_.resize(tree_.active().size());
  std::iota(unknown_.begin(), unknown_.end(), std::size_t{0});
}

/// Takes the sums on the left side from the histograms that are in memory, and plans to sum nodes once more whose
/// histograms have been lost. Returns false if all sums are known.
bool SymmetricGrowth::SumAgain(Level* level) {
  auto const& active = tree_.active();
  auto const learn = [&](std::size_t i) {
    NodeIndex const node = active[i];
    if (!slots_->Has(node)) return false;
    splits_->SumLeft(split_, slots_->sums(node), tree_.level_node(node), lefts_.data() + i * outputs_);
    done_.push_back(node);
    return true;
  };
  unknown_.erase(std::remove_if(unknown_.begin(), unknown_.end(), learn), unknown_.end());
  for (std::size_t const i : unknown_) {
    if (planner_.PlanAgain(active[i], false, level)) continue;
    if (!level->jobs.empty()) break;
    GiveUpDone();
    planner_.PlanAgain(active[i], true, level);
  }
  return !level->jobs.empty();
}

void SymmetricGrowth::Divide(Level* level) {
  bool const is_last = tree_.IsLastDivision();
  std::vector<NodeIndex> const divided = tree_.active();
  tree_.Divide(split_, lefts_);
  std::uint32_t const* const right_categories = split_.categorical ? splits_->category_sets().set(split_.bin) : nullptr;
  for (NodeIndex const parent : divided) {
    NodeIndex const left = tree_.nodes()[static_cast<std::size_t>(parent)].left;
    level->divisions.push_back(
        {parent, left, split_.feature, split_.bin, split_.default_left, right_categories, is_last});
  }
  parents_ = divided;
  BeginLevel();
}

/// Plans the families that are left while there is memory. There is always memory for one.
void SymmetricGrowth::PlanFamilies(Level* level) {
  for (; planned_ < parents_.size(); ++planned_) {
    if (planner_.Plan(tree_.nodes(), parents_[planned_], false, level)) continue;
    if (!level->families.empty()) break;
    GiveUpDone();
    planner_.Plan(tree_.nodes(), parents_[planned_], true, level);
  }
}

/// Where memory is short, nodes that are done give up theirs all at once: then many of the others fit into one pass.
void SymmetricGrowth::GiveUpDone() {
  for (NodeIndex const node : done_) slots_->Release(node);
  done_.clear();
}

void SymmetricGrowth::Find(Level* level) {
  splits_->Add(level->families, tree_.level(), tree_.first());
  for (SplitFamily const& family : level->families) {
    for (SplitJob const& job : family.jobs) {
      if (job.total.hess > 0) {
        done_.push_back(job.node);
      } else {
        slots_->Release(job.node);
      }
    }
  }
}

}  // namespace xgbgpu::host
