/// Rounds of a dart, whose trees are dropped and weighed anew from round to round. docs/adr/0015-dart-rounds.md
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

/// What only the host's dart knows: it draws the trees that it drops, and gives its trees their weights.
class DartHost {
 public:
  virtual ~DartHost() = default;

  /// Returns the number of rounds of the model.
  virtual std::uint32_t rounds() const = 0;
  /// The weights of the trees of rounds first … last - 1 (0, 0: all rounds, and there may be none) are put into
  /// `weights`, each at the number of its tree; what is there of other trees stays. If `draws`, the dart first draws
  /// the trees that it drops, once, and nothing is put there for these.
  virtual void AskWeights(bool draws, std::uint32_t first, std::uint32_t last, std::vector<float>* weights) = 0;
};

/// Remembers the weights of a dart's trees, so that they are asked for only when they may have changed.
class XGBGPU_API DartWeights {
 public:
  /// Asks `dart` nothing yet. It must outlive this.
  explicit DartWeights(DartHost* dart) : dart_{dart} {}

  /// Has the dart draw the trees that it drops in the coming round.
  void Draw();
  /// Returns the weight of every tree, in order, as drawn last. It is 0 for a tree that is dropped.
  std::vector<float> const& drawn() const { return drawn_; }
  /// Returns the weight of every tree, in order, as if none were dropped.
  std::vector<float> const& all();

  /// A round has been added, `rounds` in all, after the last Draw.
  void RoundIsOver(std::uint32_t rounds);
  /// Forgets the weights: the dart has drawn or changed without this.
  void Forget();

 private:
  DartHost* dart_;
  std::vector<float> all_, drawn_;
  bool knows_all_{false};
  bool drew_none_{false};  ///< no tree was dropped: the next round changes no weight
};

/// How the trees of a dart are arranged.
struct DartShape {
  std::uint32_t rounds;
  std::size_t trees;
  std::uint32_t outputs;

  /// True if every round has as many trees as another, and every output of a round, too.
  bool IsEven() const { return rounds == 0 ? trees == 0 : trees % (std::size_t{rounds} * outputs) == 0; }
  std::size_t per_round() const { return rounds == 0 ? outputs : trees / rounds; }
  /// The trees of a round are those of an output one after the other.
  std::uint32_t OutputOf(std::size_t tree) const {
    return static_cast<std::uint32_t>(tree % per_round() / (per_round() / outputs));
  }
};

/// Records the columns of trees of rounds `first` …, as the host predicts them; from round 0 on with the base
/// margins. False if there is no room: some columns may have been added.
using RecordColumns = std::function<bool(std::uint32_t first, LeafColumns* columns)>;

/// Gives every tree of `model` a column in `rows`, which belong to `training`: from the trees that it keeps if they are
/// just those that lack, else `record` is called. Begins anew if the columns are of another model or another base.
/// False if there is no room, and then there are no columns.
XGBGPU_API bool CompleteColumns(DartShape const& model, BaseMargins const& base, DataEpoch const& epoch,
                                RecordColumns const& record, Training* training, KeptRows* rows);

/// Does what CompleteColumns does for the training's own rows, which are made if there are none.
XGBGPU_API bool CompleteOwnColumns(DartShape const& model, BaseMargins const& base, DataEpoch const& epoch,
                                   RecordColumns const& record, Training* training);

/// Makes room for the columns of the next round, after CompleteOwnColumns. Returns the rounds that have columns;
/// nothing if there is no room, and then there are no columns.
XGBGPU_API std::optional<std::uint32_t> ReserveRound(Training* training, std::uint32_t rounds);

}  // namespace xgbgpu

#endif  // XGBGPU_DART_H_
