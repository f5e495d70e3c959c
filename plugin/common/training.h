/// A trainer, and what a booster keeps with it from round to round.
#ifndef XGBGPU_PLUGIN_TRAINING_H_
#define XGBGPU_PLUGIN_TRAINING_H_

#include <xgboost/data.h>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "base_mark.h"
#include "memory_board.h"
#include "objective/objective.h"
#include "rounds/resident_rows.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// Tells labels and weights of a matrix from those that it had at another time.
struct TargetMark {
  /// Of labels and weights of `rows` rows, for training with `objective`. Free where XGBoost's C functions are called
  /// through ours (api_call.h), else one pass over them.
  static TargetMark Of(TargetView const& targets, std::uint64_t rows, Objective objective, int threads);

  bool hinted;  ///< `value` is an epoch, not a checksum
  std::uint64_t value;
  Objective objective;

  friend bool operator==(TargetMark const& a, TargetMark const& b) {
    return a.hinted == b.hinted && a.value == b.value && a.objective == b.objective;
  }
  friend bool operator!=(TargetMark const& a, TargetMark const& b) { return !(a == b); }
};

/// Rows on a device, and what of the model and of their matrix they hold. Of a dart: or columns on the host.
struct Resident {
  std::unique_ptr<ResidentRows> rows;          ///< null until they are needed
  std::unique_ptr<host::LeafColumns> on_host;  ///< of a dart, where there are no `rows`; null until they are needed
  std::optional<std::uint32_t> rounds;  ///< of the model that are in the margins, or columns; nothing: none is known
  bool of_forest{false};              ///< the last round had several trees of an output, and nobody has predicted since
  std::optional<TargetMark> targets;  ///< of the labels and weights copied last

  BaseMark base;        ///< of a dart: of which the columns know
  bool no_room{false};  ///< for columns of a dart

  /// Null if there are neither.
  LeafColumns* columns() const { return on_host != nullptr ? static_cast<LeafColumns*>(on_host.get()) : rows.get(); }
  /// Copies labels and weights unless those of `mark` are there.
  void SetTargets(TargetView const& view, TargetMark const& mark);
};

/// What a round with resident rows is made with, beside the rows.
struct RoundPlan {
  ObjectiveParams objective;
  TargetMark targets;
  TrainParams params;

  /// Gradients of one round after the other are made in the same way.
  bool SameGradients(ObjectiveParams other, TargetMark const& mark) const {
    other.iteration = objective.iteration;
    return objective == other && targets == mark;
  }
};

/// A trainer, and what stays with it between rounds.
struct Training {
  ~Training() {
    if (trainer != nullptr) trainer->Abandon();  // a tree that was started ahead reads what goes before the trainer
  }

  struct Evaluation {
    std::weak_ptr<xgboost::DMatrix> owner;
    Resident resident;
  };

  std::shared_ptr<Dataset const> dataset;
  int threads{1};
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<MemoryBoard::Note> memory;
  Resident own;                       ///< the training matrix, once an objective has asked for it
  std::list<Evaluation> evaluations;  ///< other matrices; trees are kept while there are any
  std::optional<std::pair<ObjectiveParams, TargetMark>> checked;  ///< by Check, last
  std::optional<RoundPlan> last_plan;  ///< of the round before; nothing: it was none with resident rows
  bool has_gradients_ahead{false};     ///< the rows have the gradients of the coming round already, after last_plan
  std::uint32_t kept_from{0};          ///< the round of the first tree kept
  std::optional<std::uint32_t> kept_until;  ///< the model's rounds when the last was kept; nothing: some is missing

  /// CheckTargets, unless the same was checked before.
  void Check(ObjectiveParams objective, TargetView const& view, TargetMark const& mark, std::uint32_t outputs);
  /// Gradients for the coming round, unless they are there.
  void ComputeGradients(ObjectiveParams const& objective, TargetMark const& mark);
  /// The coming round's gradients and first trees, enqueued while the host is busy with the round before. Throws
  /// nothing: what is wrong will be met again when that round comes.
  void LookAhead(ObjectiveParams const& objective, TrainParams const& tree_params, std::uint32_t round,
                 std::size_t trees_per_output);

  /// Before a round of the model and after it. Every tree of a round is kept if `keeps`.
  void BeginRound(std::uint32_t round, bool keeps);
  void EndRound(std::uint32_t rounds, bool keeps);
  /// Margins are no longer those of the model.
  void Forget();

  /// Trees are kept for rows on the device.
  bool EvaluatesOnDevice() const;
  /// Of a dart: the rows of `data`, which need not have columns; or null.
  Resident* Evaluated(xgboost::DMatrix const* data);
  /// Of a dart: makes them. `values`: as for Admit; null: they are not to be had.
  Resident* AddEvaluated(std::shared_ptr<xgboost::DMatrix> const& data, xgboost::DMatrix* values,
                         std::uint32_t outputs);
  /// Of a dart: adds the columns of kept trees, if these are just those that are missing.
  void AddKept(Resident* resident, std::uint32_t rounds);

  /// The rows of `data` with the margins of the model, after the trees that were missing were added; or null.
  Resident* Advance(xgboost::DMatrix const* data, std::uint32_t rounds);
  /// From now on Advance knows the rows of `data`, which has the values of `values` (itself, unless it has only bins).
  /// `margins` are those of the model. Not for matrices that are small, or too large for the device, nor on the
  /// host: then nothing happens, and the answer is false.
  bool Admit(std::shared_ptr<xgboost::DMatrix> const& data, xgboost::DMatrix* values, Span<float const> margins,
             std::uint32_t rounds);

 private:
  /// Large enough for a device, where there is one.
  bool BelongsOnDevice(xgboost::DMatrix const& data) const;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_TRAINING_H_
