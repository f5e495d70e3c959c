/// Quantised data of data sets, shared by trainings. docs/adr/0003-dataset-identity.md
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

/// The max_bin of exact trees, which have sorted columns in place of bins.
constexpr int kNoBins = 0;

/// A request for the quantised form of a data set, with all inputs beside the rows. Spans are valid for the call.
struct DatasetRequest {
  DataKey key;
  DataEpoch epoch;                       ///< of weights and groups
  int max_bin;                           ///< or kNoBins
  bool has_own_bins;                     ///< the data came with bins: max_bin and weights do not count
  Span<float const> weights;             ///< [rows] or [weight groups]; empty: all 1
  Span<std::uint32_t const> groups;      ///< [weight groups + 1] offsets; empty: weights are of rows
  Span<std::uint8_t const> categorical;  ///< [features] 1 for a categorical feature; empty: there is none
  Place place;                           ///< of the dataset
  std::function<std::shared_ptr<Dataset const>()> make;  ///< makes the dataset
};

/// The quantised data of this process. All trainings on one data set share them. Several threads may use it.
class XGBGPU_API DatasetCache {
 public:
  /// Returns the cache of this process.
  static DatasetCache& Instance();

  /// Returns the dataset of a request. Makes it if there is none with the same data, weights, bins and place. If the
  /// place has shards, all shards call it at the same time, and get an existing dataset only if every shard has its
  /// part.
  std::shared_ptr<Dataset const> Get(DatasetRequest const& request);

  /// Returns the dataset of a request and its number, which is the same in all shards that made it together; null and 0
  /// if this process has none. Shards do not communicate.
  std::pair<std::shared_ptr<Dataset const>, std::int64_t> Find(DatasetRequest const& request);

  /// Frees the datasets of data sets that are gone.
  void DropExpired();

 private:
  struct Slot {
    DataKey key;
    int max_bin;
    Place place;
    // Copies of the inputs of the dataset.
    std::vector<float> weights;
    std::vector<std::uint32_t> groups;
    std::vector<std::uint8_t> categorical;
    DataEpoch epoch;  ///< the last epoch without a change of weights and groups
    std::weak_ptr<Dataset const> dataset;
    std::int64_t made;  ///< number of the dataset, the same in all shards; not 0
  };

  /// Returns the dataset and its number, or null and 0.
  std::pair<std::shared_ptr<Dataset const>, std::int64_t> FindLocked(DatasetRequest const& request);
  std::shared_ptr<Dataset const> GetWithShards(DatasetRequest const& request);
  /// Keeps the dataset as the newest one, and returns the one before it.
  std::shared_ptr<Dataset const> KeepLocked(DatasetRequest const& request, std::shared_ptr<Dataset const> dataset,
                                            std::int64_t made);

  std::mutex mutex_;
  std::vector<Slot> slots_;
  DataKey last_key_;
  std::shared_ptr<Dataset const> last_;  ///< the newest one outlives its trainings, for the next one on the same data
};

}  // namespace xgbgpu

#endif  // XGBGPU_DATASET_CACHE_H_
