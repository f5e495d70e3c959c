/// One boosting round: how its trees come into being, one after the other for a host that asks for them.
#ifndef XGBGPU_BOOSTING_ROUND_H_
#define XGBGPU_BOOSTING_ROUND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trainer.h"
#include "xgbgpu/training.h"
#include "xgbgpu/tree.h"

namespace xgbgpu {

/// The trees of a round, in XGBoost's order: those of an output one after the other.
std::vector<RoundTree> TreesOfRound(std::uint32_t iteration, std::uint32_t outputs, std::size_t per_output);

/// Throws InvalidArgument, naming row, class and value, unless all gradients [rows × classes] are finite.
XGBGPU_API void CheckFinite(Span<GradientPair const> gradients, std::size_t classes);

/// A leaf gets its value by one of these rules.
enum class LeafRule : std::uint8_t {
  kSums,     ///< the sums of its rows' gradients
  kMedians,  ///< the median of its rows' residuals, for kAbsoluteError
  kHost,     ///< an objective that only the host knows, after the tree was grown
};

/// For rules but kSums: throws Unsupported if rows would be chosen by their weights and then weighed once more.
XGBGPU_API void CheckLeafRule(TrainParams const& params, bool has_weights);

/// The trees to grow, and with which parameters.
struct RoundOrder {
  TrainParams params;          ///< with the learning rate of the round, which the trees of a forest share
  std::uint32_t iteration{0};  ///< rounds that the model has already, those of earlier trainings included
  LeafRule leaves{LeafRule::kSums};
  bool keeps_trees{false};   ///< rows on the device are evaluated and will want the trees
  bool adds_columns{false};  ///< of a dart: leaf values become columns of the training's own rows
};

/// A round in progress. From the constructor to End the training's margins count as unknown, so that a round which
/// fails leaves nothing behind that looks like the model's.
class XGBGPU_API BoostingRound {
 public:
  virtual ~BoostingRound() = default;
  BoostingRound(BoostingRound const&) = delete;
  BoostingRound& operator=(BoostingRound const&) = delete;

  /// The next tree, of `per_output` for each output, one or more, which is the same in all calls. `gradients` [rows]
  /// are those of its output, if they are on the host.
  Tree Next(Span<GradientPair const> gradients, std::size_t per_output);
  /// The host has all trees, and its model has `rounds` rounds now.
  virtual void End(std::uint32_t rounds);

  /// The learning rate of each tree; known once there is a tree.
  float learning_rate() const { return tree_params_.learning_rate; }
  LeafRule leaves() const { return order_.leaves; }
  Trainer& trainer() const { return *training_.trainer; }

 protected:
  BoostingRound(Training* training, RoundOrder order);
  virtual Tree Make(Span<GradientPair const> gradients, std::size_t per_output) = 0;

  Training& training_;
  RoundOrder order_;
  TrainParams tree_params_;  ///< parameters of each tree, once there is one
  std::uint32_t trees_{0};   ///< number of trees that were asked for so far
};

/// Trees on gradients of the host, each grown when it is asked for.
class XGBGPU_API HostRound final : public BoostingRound {
 public:
  /// Medians are computed from these. Each is [rows]; `weights` may be empty.
  struct Residuals {
    Span<float const> labels;
    Span<float const> weights;
    Span<float const> margins;  ///< before the round
  };

  /// `residuals` are looked at for LeafRule::kMedians alone.
  HostRound(Training* training, RoundOrder order, Residuals residuals);

 private:
  Tree Make(Span<GradientPair const> gradients, std::size_t per_output) override;
  void MakeMedians(Span<GradientPair const> gradients, Tree* tree) const;

  Residuals residuals_;
};

/// Trees on the gradients that the training's own rows computed last, on a device. All of them are grown when the first
/// is asked for; what the device does next, it does while the host stores them.
class XGBGPU_API ResidentRound final : public BoostingRound {
 public:
  /// `objective` and `targets` are those of the gradients. If `may_speculate` and the round before was made with the
  /// same plan, the next one is begun when this one's trees have grown: what is set anew in each round is not.
  ResidentRound(Training* training, RoundOrder order, ObjectiveParams const& objective, TargetMark const& targets,
                bool may_speculate);
  void End(std::uint32_t rounds) override;

 private:
  Tree Make(Span<GradientPair const> gradients, std::size_t per_output) override;
  void GrowAll(std::size_t per_output);

  bool speculates_;
  std::vector<Tree> grown_;  ///< all trees of the round
};

/// The leaf of every row in the trainer's last tree, which was grown from `gradients`; its complement where the row was
/// not in the tree's sample or has no hessian, as XGBoost's objectives want it.
XGBGPU_API std::vector<NodeIndex> LeafPositions(Trainer const& trainer, Span<GradientPair const> gradients);

}  // namespace xgbgpu

#endif  // XGBGPU_BOOSTING_ROUND_H_
