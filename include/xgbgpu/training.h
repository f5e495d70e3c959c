/// A trainer with its state from one round of a model to the next.
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

/// Identifies the labels and weights of a data set at one time.
struct XGBGPU_API TargetMark {
  /// Returns the mark of the labels and weights of `rows` rows, for `objective`. Cost: nothing if the epoch is known,
  /// or one pass over them.
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

/// The rows of a data set with their margins, kept where trees grow. A dart also keeps columns of leaf values, on the
/// device or on the host.
struct XGBGPU_API KeptRows {
  std::unique_ptr<ResidentRows> rows;  ///< on a device; null until needed
  /// Columns of a dart on the host, if `rows` is null; null until needed.
  std::unique_ptr<host::FillableColumns> on_host;
  std::optional<std::uint32_t> rounds;  ///< rounds of the model in margins or columns; nothing: unknown
  bool of_forest{false};  ///< the last round had several trees an output, and margins were not asked for since
  std::optional<TargetMark> targets;  ///< mark of the labels and weights that were copied last

  BaseMark base;        ///< base margins of the columns of a dart
  bool no_room{false};  ///< memory was too short for the columns of a dart

  /// Returns the columns on the device or on the host, or null.
  LeafColumns* columns() const {
    if (on_host != nullptr) return on_host.get();
    return rows.get();
  }
  /// Copies labels and weights to the device, unless the rows have targets of this mark.
  void SetTargets(TargetView const& view, TargetMark const& mark);
};

/// The inputs of a round on a device, beside the rows.
struct RoundPlan {
  ObjectiveParams objective;
  TargetMark targets;
  TrainParams params;

  /// Returns true if a round with `other` and `mark` computes its gradients in the same way.
  bool SameGradients(ObjectiveParams other, TargetMark const& mark) const {
    other.iteration = objective.iteration;
    return objective == other && targets == mark;
  }
};

/// The rounds with trees that a trainer keeps on the device, for rows that are evaluated.
struct KeptRounds {
  std::uint32_t from{0};
  std::optional<std::uint32_t> until;  ///< rounds of the model with the last kept tree; nothing: a tree is missing

  /// Returns the first of `trees` kept trees that rows need to advance from `has` to `wanted` rounds (has < wanted).
  /// Returns nothing if a needed tree is not kept.
  std::optional<std::size_t> FirstMissing(std::uint32_t has, std::uint32_t wanted, std::size_t trees) const {
    if (until != wanted || has < from) return {};
    return trees / (wanted - from) * (has - from);
  }
};

/// Receives a call when the memory of a trainer may have changed. A program implements it.
class TrainerWatch {
 public:
  virtual ~TrainerWatch() = default;
  /// Called after every round by the training thread.
  virtual void Refresh() = 0;
};

/// The state that rounds of one model on one data set share.
struct XGBGPU_API Training {
  ~Training() {
    // A speculative tree reads members that are destroyed first.
    if (trainer != nullptr && trainer->rounds() != nullptr) trainer->rounds()->Cancel();
  }

  /// Rows of another data set.
  struct Evaluation {
    DataKey key;
    KeptRows rows;
  };

  std::shared_ptr<Dataset const> dataset;
  int threads{1};
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<TrainerWatch> watch;  ///< or null
  KeptRows own;                         ///< rows of the training data, after MakeOwnRows
  std::list<Evaluation> evaluations;    ///< rows of other data; trees are kept while there are any
  std::optional<std::pair<ObjectiveParams, TargetMark>> checked;  ///< the last input that passed Check
  std::optional<RoundPlan> last_plan;     ///< of the round before; nothing: that round was not on a device
  bool rounds_on_host{false};             ///< workers of a group have agreed to keep margins on their hosts
  bool has_speculative_gradients{false};  ///< own rows have the gradients of the next round, by last_plan
  KeptRounds kept;

  /// Calls CheckTargets, unless the last call had the same objective and mark.
  void Check(ObjectiveParams objective, TargetView const& view, TargetMark const& mark, std::uint32_t outputs);
  /// Makes own rows with `outputs` margins a row, unless they exist: on the device where trees grow, or as columns on
  /// the host.
  void MakeOwnRows(std::uint32_t outputs);
  /// Copies the margins [rows, outputs] of the model after `rounds` rounds to own rows on a device.
  void SetMargins(Span<float const> margins, std::uint32_t outputs, std::uint32_t rounds);
  /// Sets the margins of own rows on a device to one value for each output, in a model of `rounds` rounds. `margins`:
  /// [outputs], or [1] for all outputs.
  void SetEqualMargins(Span<float const> margins, std::uint32_t outputs, std::uint32_t rounds);
  /// Computes the gradients of the next round from the margins of own rows on a device, unless speculation has.
  void ComputeGradients(ObjectiveParams const& objective, TargetView const& targets, TargetMark const& mark);
  /// Enqueues gradients and first trees of the next round, while the host is busy with this one. Throws nothing: an
  /// error repeats in the next round.
  void Speculate(ObjectiveParams const& objective, TrainParams const& tree_params, std::uint32_t round,
                 std::size_t trees_per_output);

  /// Begins a round of the model. `keeps`: all its trees are kept on the device.
  void BeginRound(std::uint32_t round, bool keeps);
  /// Ends the round, after which the model has `rounds` rounds.
  void EndRound(std::uint32_t rounds, bool keeps);
  /// Marks all margins as not the margins of the model.
  void Forget();

  /// Returns true if trees must be kept, because rows are evaluated on the device.
  bool EvaluatesOnDevice() const;
  /// Adds missing trees to the rows of data set `key`. Returns the rows with the margins of the model, or null.
  KeptRows* Advance(DataKey const& key, std::uint32_t rounds);
  /// Copies rows of data set `key` to the device, for Advance. `margins` [rows, outputs] are of the model. Returns
  /// false, and does nothing, on the host, or if there are too few or too many rows.
  bool Admit(DataKey const& key, RowSource const& values, Span<float const> margins, std::uint32_t outputs,
             std::uint32_t rounds);

  // Calls for a dart.

  /// Returns the rows of data set `key`, with or without columns, or null.
  KeptRows* Evaluated(DataKey const& key);
  /// Makes the rows of data set `key`: on the device if there are many and `values` is not null; or as columns on the
  /// host, for `rows` rows.
  KeptRows* AddEvaluated(DataKey const& key, RowSource const* values, std::uint64_t rows, std::uint32_t outputs);
  /// Adds columns of the kept trees to `evaluated`, if they are exactly the trees that it lacks.
  void AddKept(KeptRows* evaluated, std::uint32_t rounds);

 private:
  /// Returns true if the training is on a device, and `rows` rows are worth one.
  bool BelongsOnDevice(std::uint64_t rows) const;
  void DropExpired();
};

}  // namespace xgbgpu

#endif  // XGBGPU_TRAINING_H_
