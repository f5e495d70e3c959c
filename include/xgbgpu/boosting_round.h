/// Boosting rounds: trees of one round, handed out one by one.
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
#include "xgbgpu/vector_tree.h"

namespace xgbgpu {

/// Returns the trees of a round in XGBoost's order: output by output, `per_output` trees each.
XGBGPU_API std::vector<RoundTree> TreesOfRound(std::uint32_t iteration, std::uint32_t outputs, std::size_t per_output);

/// Throws InvalidArgument unless all gradients [rows, outputs] are finite: names row, output and value.
XGBGPU_API void CheckFinite(Span<GradientPair const> gradients, std::size_t outputs);

/// The rule that decides the value of a leaf.
enum class LeafRule : std::uint8_t {
  kSums,       ///< sums of the gradients of its rows
  kMedians,    ///< the median of the residuals of its rows, for kAbsoluteError
  kQuantiles,  ///< the quantile alpha of its rows' residuals, times the learning rate of the tree, for kQuantile
  kCaller,     ///< an objective of the caller, after the tree has grown
};

/// Throws Unsupported if rows are sampled by gradients that have weights, and the rule (not kSums) weights rows again.
XGBGPU_API void CheckLeafRule(TrainParams const& params, bool has_weights);

/// The trees of a round, and their parameters.
struct RoundOrder {
  TrainParams params;          ///< with the learning rate of the round, which is shared by the trees of a forest
  std::uint32_t iteration{0};  ///< number of rounds of the model, including earlier trainings
  LeafRule leaves{LeafRule::kSums};
  bool keeps_trees{false};   ///< keeps the trees on the device, for rows that are evaluated
  bool adds_columns{false};  ///< dart: leaf values become columns of the training's own rows
};

/// A round in progress. From the constructor to End the margins of the training count as unknown, so a round that fails
/// leaves no wrong margins.
class XGBGPU_API BoostingRound {
 public:
  virtual ~BoostingRound() = default;
  BoostingRound(BoostingRound const&) = delete;
  BoostingRound& operator=(BoostingRound const&) = delete;

  /// Grows or returns the next tree. `per_output`: number of trees of each output, 1 or more, the same in all calls.
  /// `gradients` [rows]: of the tree's output, if gradients are on the host.
  Tree Next(Span<GradientPair const> gradients, std::size_t per_output);
  /// Grows the next tree of vectors. `trees`: number of trees of the round. `gradients` [rows, outputs], if they are on
  /// the host.
  VectorTree NextVectors(Span<GradientPair const> gradients, std::uint32_t outputs, std::size_t trees);
  /// Ends the round: the caller has all trees, and its model has `rounds` rounds now.
  virtual void End(std::uint32_t rounds);

  /// Returns the learning rate of each tree. Valid after the first Next.
  float learning_rate() const { return tree_params_.learning_rate; }
  LeafRule leaves() const { return order_.leaves; }
  Trainer& trainer() const { return *training_.trainer; }

 protected:
  BoostingRound(Training* training, RoundOrder order);
  void BeginTree(std::size_t per_output);
  virtual Tree Make(Span<GradientPair const> gradients, std::size_t per_output) = 0;
  virtual VectorTree MakeVectors(Span<GradientPair const> gradients, std::uint32_t outputs) = 0;
  /// Keeps a tree of vectors, if the round keeps trees: as a tree of each output.
  void Keep(VectorTree const& tree);
  bool adapts_leaves() const { return order_.leaves == LeafRule::kMedians || order_.leaves == LeafRule::kQuantiles; }
  /// Multiplies the leaves that were just adapted by the learning rate, if the rule says so.
  void ScaleLeaves(Tree* tree) const;

  Training& training_;
  RoundOrder order_;
  TrainParams tree_params_;  ///< parameters of each tree, after the first Next
  std::uint32_t trees_{0};   ///< number of trees so far
};

/// A round on gradients of the host. Each Next grows a tree.
class XGBGPU_API HostRound final : public BoostingRound {
 public:
  /// The input of LeafRule::kMedians and kQuantiles.
  struct Residuals {
    Span<float const> labels;   ///< [rows]
    Span<float const> weights;  ///< [rows], or empty
    Span<float const> margins;  ///< [rows, outputs], before the round
    std::vector<float> alphas;  ///< [outputs] of kQuantiles
  };

  /// `residuals` count for medians and quantiles only.
  HostRound(Training* training, RoundOrder order, Residuals residuals);

 private:
  Tree Make(Span<GradientPair const> gradients, std::size_t per_output) override;
  VectorTree MakeVectors(Span<GradientPair const> gradients, std::uint32_t outputs) override;
  void AdaptLeaves(Span<GradientPair const> gradients, std::uint32_t output, Tree* tree) const;

  Residuals residuals_;
};

/// A round on the gradients that the training's own rows computed last, on a device. The first Next grows all trees.
/// The device may already work on the next round while the caller stores them.
class XGBGPU_API ResidentRound final : public BoostingRound {
 public:
  /// `objective` and `targets` are of the gradients. If `may_speculate`, and the round before had the same plan, the
  /// next round begins when the trees of this one have grown.
  ResidentRound(Training* training, RoundOrder order, ObjectiveParams const& objective, TargetMark const& targets,
                bool may_speculate);
  void End(std::uint32_t rounds) override;

 private:
  Tree Make(Span<GradientPair const> gradients, std::size_t per_output) override;
  VectorTree MakeVectors(Span<GradientPair const> gradients, std::uint32_t outputs) override;
  void GrowAll(std::size_t per_output);

  bool speculates_;
  std::vector<Tree> grown_;  ///< all trees of the round, unless they are trees of vectors
  bool of_vectors_{false};   ///< the last tree was one of vectors
};

/// Returns [rows] the leaf of every row in the trainer's last tree, which was grown from `gradients`. Bitwise
/// complements mark rows outside the tree's sample or without a hessian, as XGBoost's objectives expect. Without
/// gradients hessians do not count.
XGBGPU_API std::vector<NodeIndex> LeafPositions(Trainer const& trainer, Span<GradientPair const> gradients);

}  // namespace xgbgpu

#endif  // XGBGPU_BOOSTING_ROUND_H_
