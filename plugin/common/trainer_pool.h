/// Which quantised data and trainer belong to a DMatrix. See docs/adr/0003-dataset-identity.md.
#ifndef XGBGPU_PLUGIN_TRAINER_POOL_H_
#define XGBGPU_PLUGIN_TRAINER_POOL_H_

#include <xgboost/data.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "training.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// The quantised matrices of this process: boosters that train on one DMatrix share one.
class DatasetCache {
 public:
  static DatasetCache& Instance();

  /// The quantised form of `data` in `place`, made if there is none yet for the same matrix, weights and max_bin there.
  std::shared_ptr<Dataset const> Get(std::shared_ptr<xgboost::DMatrix> const& data, int max_bin, Place place,
                                     int threads);

  /// Forgets what belongs to matrices that are gone.
  void DropExpired();

 private:
  struct Slot {
    std::weak_ptr<xgboost::DMatrix> owner;
    int max_bin;
    Place place;
    std::vector<float> weights;                ///< as in the matrix when the dataset was made
    std::vector<xgboost::bst_group_t> groups;  ///< the same: WeightGroups
    std::vector<std::uint8_t> categorical;     ///< the same: CategoricalFeatures
    std::optional<std::uint64_t> epoch;        ///< in which the first two were found unchanged (api_call.h)
    std::weak_ptr<Dataset const> dataset;
  };

  std::shared_ptr<Dataset const> Find(std::shared_ptr<xgboost::DMatrix> const& data, int max_bin, Place place);
  void DropExpiredLocked();

  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::weak_ptr<xgboost::DMatrix> last_owner_;
  std::shared_ptr<Dataset const> last_;  ///< the newest outlives its boosters: xgb.train() called again finds it
};

/// The trainers of one booster, most recently used first: two, so that a booster may alternate between two matrices.
class TrainerPool {
 public:
  /// The trainer for `data`, valid until the next call for another matrix.
  Training& Get(std::shared_ptr<xgboost::DMatrix> const& data, int max_bin, Place place, int threads);

  /// One whose resident rows have the margins of `data` after `rounds` rounds, or null.
  Training* FindMargins(xgboost::DMatrix const* data, std::uint32_t rounds);

  /// The one used last, or null.
  Training* Newest();

  /// The one for this matrix, or null.
  Training* TrainingOf(xgboost::DMatrix const* data);

  /// No margins are those of the model any more: it was changed by others.
  void ForgetMargins();

  /// No trainer tells a file what it does any more.
  void EndTraces();

  /// Frees the trainers of matrices that are gone.
  void DropExpired();

 private:
  struct Slot {
    std::weak_ptr<xgboost::DMatrix> owner;
    std::unique_ptr<Training> training;
  };

  std::mutex mutex_;  // predictions may run at the same time
  std::vector<Slot> slots_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_TRAINER_POOL_H_
