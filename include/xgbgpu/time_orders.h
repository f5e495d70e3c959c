/// Rows in order of survival times, for survival:cox and cox-nloglik on the host.
#ifndef XGBGPU_TIME_ORDERS_H_
#define XGBGPU_TIME_ORDERS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/data_key.h"
#include "xgbgpu/training.h"

namespace xgbgpu {

/// The orders of one model's data sets, each sorted once for the labels that it has. May be used by several threads.
class XGBGPU_API TimeOrders {
 public:
  /// The order of the `rows` rows of the data `key`, whose `targets` are those of `mark`. It is kept while the data
  /// live: 8 bytes a row.
  std::shared_ptr<TimeOrder const> Get(DataKey const& key, std::uint64_t rows, TargetView const& targets,
                                       TargetMark const& mark);
  /// Frees the orders of data that are gone.
  void DropExpired();

 private:
  struct Kept {
    DataKey key;
    TargetMark mark;
    std::shared_ptr<TimeOrder const> times;
  };

  std::mutex mutex_;
  std::vector<Kept> kept_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_TIME_ORDERS_H_
