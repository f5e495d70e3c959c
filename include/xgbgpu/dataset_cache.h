/// Which quantised data belong to a data set. docs/adr/0003-dataset-identity.md
#ifndef XGBGPU_DATASET_CACHE_H_
#define XGBGPU_DATASET_CACHE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/data_key.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {

/// Stands in place of max_bin for exact trees, which have sorted columns instead of bins.
constexpr int kNoBins = 0;

/// The quantised form of a data set that is wanted, and what it depends on beside the rows. Spans serve for the call.
struct DatasetRequest {
  DataKey key;
  DataEpoch epoch;                       ///< of weights and groups
  int max_bin;                           ///< or kNoBins
  bool has_own_bins;                     ///< chosen when the data were made: max_bin and weights play no part
  Span<float const> weights;             ///< as the host has them, of rows or groups
  Span<std::uint32_t const> groups;      ///< where each group with a weight begins, and the last ends; empty: none have
  Span<std::uint8_t const> categorical;  ///< [features] 1 for a categorical one; empty if there is none
  Place place;                           ///< where it will lie
  std::function<std::shared_ptr<Dataset const>()> make;  ///< makes it
};

/// The quantised data of this process: all trainings on one data set share them. May be used by several threads.
class XGBGPU_API DatasetCache {
 public:
  static DatasetCache& Instance();

  /// Returns the dataset that is asked for. Makes it if there is none yet for these data, weights, bins and place. If
  /// the place has shards, all of them must ask at the same time: they get a dataset that was made before only if all
  /// have their part of the same one.
  std::shared_ptr<Dataset const> Get(DatasetRequest const& request);

  /// Forgets what belongs to data that are gone.
  void DropExpired();

 private:
  struct Slot {
    DataKey key;
    int max_bin;
    Place place;
    // These are as they were when the dataset was made.
    std::vector<float> weights;
    std::vector<std::uint32_t> groups;
    std::vector<std::uint8_t> categorical;
    DataEpoch epoch;  ///< in which weights and groups were found unchanged last
    std::weak_ptr<Dataset const> dataset;
    std::int64_t made;  ///< a number that all shards have of the same dataset, and of no other; not 0
  };

  /// Returns the dataset and its number, or null and 0.
  std::pair<std::shared_ptr<Dataset const>, std::int64_t> FindLocked(DatasetRequest const& request);
  std::shared_ptr<Dataset const> GetWithShards(DatasetRequest const& request);
  /// Keeps the dataset as the newest one, and returns the one that was.
  std::shared_ptr<Dataset const> KeepLocked(DatasetRequest const& request, std::shared_ptr<Dataset const> dataset,
                                            std::int64_t made);

  std::mutex mutex_;
  std::vector<Slot> slots_;
  DataKey last_key_;
  std::shared_ptr<Dataset const> last_;  ///< the newest outlives its trainings: another one on the same data finds it
};

}  // namespace xgbgpu

#endif  // XGBGPU_DATASET_CACHE_H_
