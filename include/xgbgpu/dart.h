/// Rounds of a dart, which drops and reweights trees in every round. docs/adr/0015-dart-rounds.md
#ifndef XGBGPU_DART_H_
#define XGBGPU_DART_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/leaf_columns.h"
#include "xgbgpu/training.h"

namespace xgbgpu {

/// The dart of the caller: it draws the trees to drop, and decides weights. A program implements it.
class DartModel {
 public:
  virtual ~DartModel() = default;

  /// Returns the number of rounds of the model.
  virtual std::uint32_t rounds() const = 0;
  /// Writes the weights of the trees of rounds first … last - 1 (0, 0: of all rounds) to `weights`, each at the number
  /// of its tree. Weights of other trees stay. `weights` has what was known last, perhaps before a round with drops.
  virtual void AskWeights(std::uint32_t first, std::uint32_t last, std::vector<float>* weights) = 0;
  /// Draws the trees to drop, once. Returns [trees] the weights, 0 for a dropped tree. all() returns the weights of all
  /// trees, and may have to ask for them.
  virtual std::vector<float> Draw(std::function<std::vector<float> const&()> const& all) = 0;
};

/// The weights of a dart's trees. Asks for weights only if they may have changed.
class XGBGPU_API DartWeights {
 public:
  /// `dart` must outlive it. Asks for nothing yet.
  explicit DartWeights(DartModel* dart) : dart_{dart} {}

  /// Draws the trees to drop in the next round.
  void Draw();
  /// Returns [trees] the weights after the last Draw: 0 for a dropped tree.
  std::vector<float> const& drawn() const { return drawn_; }
  /// Returns [trees] the weights without dropped trees.
  std::vector<float> const& all();
  /// Returns the number of trees.
  std::size_t trees() { return is_drawn_ ? drawn_.size() : all().size(); }

  /// Notes that the round of the last Draw is in the model, which has `rounds` rounds now.
  void RoundIsOver(std::uint32_t rounds);
  /// Forgets the weights, because the dart has drawn or changed by itself.
  void Forget();

 private:
  DartModel* dart_;
  std::vector<float> all_, drawn_;
  bool knows_all_{false};
  bool is_drawn_{false};   ///< drawn_ are of the model as it is
  bool drew_none_{false};  ///< no tree was dropped: the next round changes no weight
};

/// The number of rounds, trees and outputs of a dart.
struct DartShape {
  std::uint32_t rounds;
  std::size_t trees;
  std::uint32_t outputs;

  /// Returns true if all rounds, and all outputs of a round, have the same number of trees.
  bool IsEven() const { return rounds == 0 ? trees == 0 : trees % (std::size_t{rounds} * outputs) == 0; }
  std::size_t per_round() const { return rounds == 0 ? outputs : trees / rounds; }
  /// Returns the output of a tree. A round has its trees output by output.
  std::uint32_t OutputOf(std::size_t tree) const {
    return static_cast<std::uint32_t>(tree % per_round() / (per_round() / outputs));
  }
};

/// Adds the columns of the trees of rounds `first` and later, which the caller predicts; from round 0 on also the base
/// margins. Returns false if memory is short; some columns may have been added then.
using RecordColumns = std::function<bool(std::uint32_t first, LeafColumns* columns)>;

/// Gives every tree of `model` a column in `rows` of `training`. Takes kept trees if they are exactly the missing ones,
/// or calls `record`. Begins anew if the columns are of another model or other base margins. Returns false, and ends
/// columns, if memory is short.
XGBGPU_API bool CompleteColumns(DartShape const& model, BaseMargins const& base, DataEpoch const& epoch,
                                RecordColumns const& record, Training* training, KeptRows* rows);

/// Does the work of CompleteColumns for the training's own rows. Makes the rows if there are none.
XGBGPU_API bool CompleteOwnColumns(DartShape const& model, BaseMargins const& base, DataEpoch const& epoch,
                                   RecordColumns const& record, Training* training);

/// Takes memory for the columns of the next round, after CompleteOwnColumns. Returns the number of rounds that have
/// columns; nothing, and ends columns, if memory is short.
XGBGPU_API std::optional<std::uint32_t> ReserveRound(Training* training, std::uint32_t rounds);

}  // namespace xgbgpu

#endif  // XGBGPU_DART_H_
