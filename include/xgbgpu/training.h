/// A trainer, and all that stays with it from one round of a model to the next.
#ifndef XGBGPU_TRAINING_H_
#define XGBGPU_TRAINING_H_

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/data_key.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/resident_rows.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {

/// Tells the labels and weights of a data set from those that it had at another time.
struct XGBGPU_API TargetMark {
  /// Returns the mark of the labels and weights of `rows` rows, for training with `objective`. This costs nothing if
  /// the epoch is known, else one pass over them.
  static TargetMark Of(TargetView const& targets, std::uint64_t rows, Objective objective, DataEpoch const& epoch,
                       int threads);

  bool is_epoch;  ///< `value` is an epoch, not a checksum
  std::uint64_t value;
  Objective objective;

  friend bool operator==(TargetMark const& a, TargetMark const& b) {
    return a.is_epoch == b.is_epoch && a.value == b.value && a.objective == b.objective;
  }
  friend bool operator!=(TargetMark const& a, TargetMark const& b) { return !(a == b); }
};

/// The rows of one data set, kept where the training is, and how much of the model and of the data they hold. A dart
/// keeps columns of leaf values with them, which may lie on the host instead.
struct XGBGPU_API KeptRows {
  std::unique_ptr<ResidentRows> rows;  ///< on a device; null until they are needed
  /// The columns of a dart, where there are no `rows`; null until they are needed.
  std::unique_ptr<host::FillableColumns> on_host;
  std::optional<std::uint32_t> rounds;  ///< rounds of the model that margins or columns have; nothing: not known
  bool of_forest{false};  ///< the last round had several trees of an output, and nobody has asked for margins since
  std::optional<TargetMark> targets;  ///< the mark of the labels and weights that were copied last

  BaseMark base;        ///< what the columns of a dart begin with
  bool no_room{false};  ///< there was no memory for the columns of a dart

  /// Returns null if there are neither `rows` nor columns on the host.
  LeafColumns* columns() const {
    if (on_host != nullptr) return on_host.get();
    return rows.get();
  }
  /// Copies labels and weights, unless the rows have those of `mark` already.
  void SetTargets(TargetView const& view, TargetMark const& mark);
};

/// What a round on a device depends on, beside the rows.
struct RoundPlan {
  ObjectiveParams objective;
  TargetMark targets;
  TrainParams params;

  /// True if the gradients of another round, with `other` and `mark`, are made in the same way.
  bool SameGradients(ObjectiveParams other, TargetMark const& mark) const {
    other.iteration = objective.iteration;
    return objective == other && targets == mark;
  }
};

/// The rounds whose trees a trainer keeps on the device, all trees of each, for rows that are evaluated.
struct KeptRounds {
  std::uint32_t from{0};
  std::optional<std::uint32_t> until;  ///< rounds of the model with the last kept tree; nothing: some tree is missing

  /// Rows have `has` rounds and shall have `wanted`, which is more; `trees` trees are kept. Returns the first kept tree
  /// that the rows lack, or nothing if some tree that they lack is not kept.
  std::optional<std::size_t> FirstMissing(std::uint32_t has, std::uint32_t wanted, std::size_t trees) const {
    if (until != wanted || has < from) return {};
    return trees / (wanted - from) * (has - from);
  }
};

/// Is told when the memory of a trainer may have changed.
class TrainerWatch {
 public:
  virtual ~TrainerWatch() = default;
  /// Called after every round, by the thread that trains.
  virtual void Refresh() = 0;
};

/// Keeps what a model's rounds on one data set have in common.
struct XGBGPU_API Training {
  ~Training() {
    // A speculative tree reads members that are destroyed first.
    if (trainer != nullptr && trainer->rounds() != nullptr) trainer->rounds()->Cancel();
  }

  struct Evaluation {
    DataKey key;
    KeptRows rows;
  };

  std::shared_ptr<Dataset const> dataset;
  int threads{1};
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<TrainerWatch> watch;  ///< or null
  KeptRows own;                         ///< rows of the training data, once an objective has asked for them
  std::list<Evaluation> evaluations;    ///< other data; trees are kept while there are any
  std::optional<std::pair<ObjectiveParams, TargetMark>> checked;  ///< what Check saw last
  std::optional<RoundPlan> last_plan;                             ///< the round before; nothing: it was not on a device
  bool has_speculative_gradients{false};  ///< own rows have the gradients of the coming round, made as last_plan says
  KeptRounds kept;

  /// Calls CheckTargets unless these targets have been checked before.
  void Check(ObjectiveParams objective, TargetView const& view, TargetMark const& mark, std::uint32_t outputs);
  /// Makes own rows, unless there are some with `outputs` margins each: on the device that trains, or as columns on the
  /// host.
  void MakeOwnRows(std::uint32_t outputs);
  /// Gives own rows on a device these margins [rows × outputs], which are those of the model after `rounds` rounds.
  void SetMargins(Span<float const> margins, std::uint32_t outputs, std::uint32_t rounds);
  /// Does the same where all margins are equal.
  void SetEqualMargins(float margin, std::uint32_t outputs, std::uint32_t rounds);
  /// Computes the coming round's gradients from the margins of own rows on a device, unless they are there.
  void ComputeGradients(ObjectiveParams const& objective, TargetView const& targets, TargetMark const& mark);
  /// Enqueues the coming round's gradients and first trees while the host is busy with the round before. Throws
  /// nothing: an error will come up again in that round.
  void Speculate(ObjectiveParams const& objective, TrainParams const& tree_params, std::uint32_t round,
                 std::size_t trees_per_output);

  /// Are called before and after a round of the model. All its trees are kept if `keeps`.
  void BeginRound(std::uint32_t round, bool keeps);
  void EndRound(std::uint32_t rounds, bool keeps);
  /// Marks all margins as not those of the model.
  void Forget();

  /// True if trees must be kept, for rows that are evaluated on the device.
  bool EvaluatesOnDevice() const;
  /// Adds missing trees to the rows of the data `key`, and returns the rows with the margins of the model; or null.
  KeptRows* Advance(DataKey const& key, std::uint32_t rounds);
  /// Copies rows of the data `key` to the device, for Advance. `margins` [rows × outputs] are those of the model.
  /// Returns false, and does nothing, on the host, or if the rows are few or too many for the device.
  bool Admit(DataKey const& key, RowSource const& values, Span<float const> margins, std::uint32_t rounds);

  // Calls for a dart.

  /// Returns the rows of the data `key`, which need not have columns, or null.
  KeptRows* Evaluated(DataKey const& key);
  /// Makes those rows: on the device if they are many and their `values` are known (not null), else as columns on the
  /// host for `rows` rows.
  KeptRows* AddEvaluated(DataKey const& key, RowSource const* values, std::uint64_t rows, std::uint32_t outputs);
  /// Adds columns of the kept trees to `evaluated`, if these are exactly the trees that it lacks.
  void AddKept(KeptRows* evaluated, std::uint32_t rounds);

 private:
  /// True if the training is on a device and so many rows are worth one.
  bool BelongsOnDevice(std::uint64_t rows) const;
  void DropExpired();
};

}  // namespace xgbgpu

#endif  // XGBGPU_TRAINING_H_
