// Finds the best splits of a level's nodes on the host, in blocks of features.
#include "split/split_finder.h"

#include "base/parallel.h"
#include "split/features_in_block.h"
#include "split/split_ops.h"

namespace xgbgpu::host {

SplitFinder::SplitFinder(QuantisedMatrix const& matrix, int threads)
    : matrix_{matrix}, threads_{threads}, set_words_{CategorySetWords(matrix.cuts)} {}

void SplitFinder::Begin(SplitParams const& params, Constraints const& constraints,
                        std::vector<FeatureBlock> const& blocks) {
  params_ = &params;
  constraints_ = &constraints;
  blocks_ = &blocks;
  category_sets_.clear();
}

void SplitFinder::Find(Span<SplitFamily> families) {
  std::size_t const blocks = blocks_->size();
  std::vector<SplitCandidate> best(2 * families.size() * blocks);  // [families, 2, blocks]
  ParallelTasks(threads_, families.size() * blocks, [&](std::size_t task, int) {
    std::size_t const f = task / blocks, b = task % blocks;
    SplitFamily const& family = families[f];
    FeatureBlock const& block = (*blocks_)[b];
    if (family.subtract) SubtractHistogram(block, family.jobs[0].sums, family.jobs[1].sums);
    for (std::size_t j = 0; j < family.jobs.size(); ++j) {
      best[(2 * f + j) * blocks + b] = FindInBlock(family.jobs[j], block);
    }
  });
  for (std::size_t f = 0; f < families.size(); ++f) {
    for (std::size_t j = 0; j < families[f].jobs.size(); ++j) {
      SplitCandidate& best_of_job = families[f].jobs[j].best;
      for (std::size_t b = 0; b < blocks; ++b) {
        SplitCandidate const& candidate = best[(2 * f + j) * blocks + b];
        if (IsBetter(candidate, best_of_job)) best_of_job = candidate;
      }
    }
  }
  if (set_words_ != 0) WriteCategorySets(families);
}

SplitCandidate SplitFinder::FindInBlock(SplitJob const& job, FeatureBlock const& block) const {
  return EvaluateSplits(*params_, matrix_, job.sums, job.total, FeaturesInBlock(job, block), constraints_->directions(),
                        job.bounds);
}

void SplitFinder::WriteCategorySets(Span<SplitFamily> families) {
  std::vector<SplitJob*> by_categories;
  for (SplitFamily& family : families) {
    for (SplitJob& job : family.jobs) {
      if (job.best.categorical) by_categories.push_back(&job);
    }
  }
  std::size_t const first = category_sets_.size() / set_words_;
  category_sets_.resize((first + by_categories.size()) * set_words_);
  ParallelTasks(threads_, by_categories.size(), [&](std::size_t i, int) {
    SplitJob& job = *by_categories[i];
    FeatureIndex const f = job.best.feature;
    Span<GradientSum const> const sums{job.sums + matrix_.cell_ptr[f], matrix_.cuts.bins(f)};
    WriteCategorySet(*params_, sums, job.best, category_sets_.data() + (first + i) * set_words_);
    job.best.bin = static_cast<BinIndex>(first + i);
  });
}

}  // namespace xgbgpu::host
