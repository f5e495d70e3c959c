/// A trainer, and what stays with it from one round of a model to the next.
#ifndef XGBGPU_DRIVER_TRAINING_H_
#define XGBGPU_DRIVER_TRAINING_H_

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "driver/base_margins.h"
#include "driver/data_key.h"
#include "objective/objective.h"
#include "rounds/resident_rows.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {

/// Tells the labels and weights of a data set from those that it had at another time.
struct TargetMark {
  /// The mark of labels and weights of `rows` rows, for training with `objective`. Free if the epoch is known, else one
  /// pass over them.
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

/// The rows of one data set where the training is, and what of the model and of the data they hold. A dart has columns
/// of leaf values with them, which may lie on the host instead.
struct KeptRows {
  std::unique_ptr<ResidentRows> rows;  ///< on a device; null until they are needed
  /// The columns of a dart, where there are no `rows`; null until they are needed.
  std::unique_ptr<host::FillableColumns> on_host;
  std::optional<std::uint32_t> rounds;  ///< of the model that are in margins or columns; nothing: none is known
  bool of_forest{false};  ///< the last round had several trees of an output, and nobody has asked for margins since
  std::optional<TargetMark> targets;  ///< of the labels and weights that were copied last

  BaseMark base;        ///< of a dart: what its columns begin with
  bool no_room{false};  ///< of a dart: there was no memory for columns

  /// Returns null if there are neither `rows` nor columns on the host.
  LeafColumns* columns() const { return on_host != nullptr ? static_cast<LeafColumns*>(on_host.get()) : rows.get(); }
  /// Copies labels and weights unless those of `mark` are there.
  void SetTargets(TargetView const& view, TargetMark const& mark);
};

/// A round on a device is made with these, beside the rows.
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

/// The rounds whose trees a trainer keeps on the device, all of them, for rows that are evaluated.
struct KeptRounds {
  std::uint32_t from{0};
  std::optional<std::uint32_t> until;  ///< the model's rounds when the last was kept; nothing: some tree is missing

  /// The first of the `trees` trees kept that rows lack which have `has` rounds and shall have `wanted`, more. Nothing
  /// if some of the trees that they lack are not kept.
  std::optional<std::size_t> FirstMissing(std::uint32_t has, std::uint32_t wanted, std::size_t trees) const {
    if (until != wanted || has < from) return {};
    return trees / (wanted - from) * (has - from);
  }
};

/// Somebody who wants to know when the memory of a trainer may have changed.
class TrainerWatch {
 public:
  virtual ~TrainerWatch() = default;
  /// Called after every round, by the thread that trains.
  virtual void Refresh() = 0;
};

/// Keeps what a model's rounds on one data set have in common.
struct Training {
  ~Training() {
    if (trainer != nullptr) trainer->Abandon();  // a tree that was started ahead reads what goes before the trainer
  }

  struct Evaluation {
    DataKey key;
    KeptRows rows;
  };

  std::shared_ptr<Dataset const> dataset;
  int threads{1};
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<TrainerWatch> watch;  ///< or null
  KeptRows own;                         ///< the rows of the training, once an objective has asked for them
  std::list<Evaluation> evaluations;    ///< rows of other data; trees are kept while there are any
  std::optional<std::pair<ObjectiveParams, TargetMark>> checked;  ///< by Check, last
  std::optional<RoundPlan> last_plan;  ///< of the round before; nothing: that was none on a device
  bool has_gradients_ahead{false};     ///< the rows have the gradients of the coming round already, after last_plan
  KeptRounds kept;

  /// Calls CheckTargets unless these targets have been checked before.
  void Check(ObjectiveParams objective, TargetView const& view, TargetMark const& mark, std::uint32_t outputs);
  /// Makes own rows where the training is, with `outputs` margins each, unless there are some; columns on the host if
  /// that is where it is.
  void MakeOwnRows(std::uint32_t outputs);
  /// On a device: own rows get these margins [rows × outputs], which are those of the model after `rounds` rounds.
  void SetMargins(Span<float const> margins, std::uint32_t outputs, std::uint32_t rounds);
  /// On a device: gradients of the margins of own rows for the coming round, unless they are there.
  void ComputeGradients(ObjectiveParams const& objective, TargetView const& targets, TargetMark const& mark);
  /// The coming round's gradients and first trees, enqueued while the host is busy with the round before. Throws
  /// nothing: what is wrong will be met again when that round comes.
  void LookAhead(ObjectiveParams const& objective, TrainParams const& tree_params, std::uint32_t round,
                 std::size_t trees_per_output);

  /// Before a round of the model, whose trees are all kept if `keeps`, and after it.
  void BeginRound(std::uint32_t round, bool keeps);
  void EndRound(std::uint32_t rounds, bool keeps);
  /// From now on no margins count as those of the model.
  void Forget();

  /// True if trees are to be kept, for rows on the device.
  bool EvaluatesOnDevice() const;
  /// The rows of the data `key` with the margins of the model, after the trees that were missing were added; or null.
  KeptRows* Advance(DataKey const& key, std::uint32_t rounds);
  /// From now on Advance knows the rows of the data `key`, with these values. `margins` [rows × outputs] are those of
  /// the model. Not if they are few, or too many for the device, nor on the host: then nothing happens, and the answer
  /// is false.
  bool Admit(DataKey const& key, RowSource const& values, Span<float const> margins, std::uint32_t rounds);

  // Calls for a dart.

  /// The rows of the data `key`, which need not have columns; or null.
  KeptRows* Evaluated(DataKey const& key);
  /// Makes those: on the device if they are enough for it and their `values` are to be had (not null), else columns on
  /// the host for `rows` rows.
  KeptRows* AddEvaluated(DataKey const& key, RowSource const* values, std::uint64_t rows, std::uint32_t outputs);
  /// Adds columns of the trees that are kept to `evaluated`, if these are just those that it lacks.
  void AddKept(KeptRows* evaluated, std::uint32_t rounds);

 private:
  /// True if the training is on a device and these are enough rows for one.
  bool BelongsOnDevice(std::uint64_t rows) const;
  void DropExpired();
};

}  // namespace xgbgpu

#endif  // XGBGPU_DRIVER_TRAINING_H_
