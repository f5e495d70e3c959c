/// Orders of rows by survival time, for survival:cox and cox-nloglik on the host.
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

/// The orders of the data sets of one model. Each data set is sorted once for its labels. Several threads may use it.
class XGBGPU_API TimeOrders {
 public:
  /// Returns the order of the rows of data set `key`. `mark` is the mark of `targets`.
  ///
  /// Cost    the first time, or after a change of `mark`, a sort
  /// Memory  8 bytes a row while the data set lives
  std::shared_ptr<TimeOrder const> Get(DataKey const& key, std::uint64_t rows, TargetView const& targets,
                                       TargetMark const& mark);
  /// Frees the orders of data sets that are gone.
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
