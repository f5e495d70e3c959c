/// A model of random trees, which counts how often it is read.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_HOST_MODEL_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_HOST_MODEL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/given_trees.h"
#include "support/grow.h"
#include "xgbgpu/model_view.h"

namespace xgbgpu::testing {

/// A model of 40 trees of one output on 6 features.
class HostModel {
 public:
  static constexpr FeatureIndex kFeatures = 6;
  static constexpr std::uint32_t kRounds = 40;

  HostModel() {
    Random random{51};
    auto const values = RandomValues({400, kFeatures, 0.1}, 52);
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      trees_.push_back(RandomTree({16, kFeatures}, values, &random));
      covers_.push_back(RandomCovers(trees_.back(), &random));
    }
  }

  ModelView View() {
    return {kRounds, 1, kFeatures, {0.25f}, [this](std::function<void(ModelTree const&)> const& visit) {
              ++times_read;
              std::vector<float> const no_covers(1, -1.0f);
              for (std::size_t i = 0; i < trees_.size(); ++i)
                trees_[i].VisitBy(visit, cannot_be_explained ? no_covers : covers_[i]);
            }};
  }
  std::vector<float> MarginsByHand(reference::Values const& values, RoundRange rounds,
                                   std::vector<float> margins) const {
    AddByHand(trees_, rounds.first, rounds.last, values, 1, &margins);
    return margins;
  }
  std::vector<GivenTree> const& trees() const { return trees_; }
  /// Returns a Warn that counts warnings.
  Warn Warner() {
    return [this](std::string const&, std::string const&) { ++warnings; };
  }

  int times_read{0}, warnings{0};
  bool cannot_be_explained{false};  ///< sums of hessians are missing

 private:
  std::vector<GivenTree> trees_;
  std::vector<std::vector<float>> covers_;
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_HOST_MODEL_H_
