/// Rows in order of survival times, for survival:cox and cox-nloglik on the host.
#ifndef XGBGPU_PLUGIN_TIME_ORDERS_H_
#define XGBGPU_PLUGIN_TIME_ORDERS_H_

#include <xgboost/data.h>

#include <memory>
#include <mutex>
#include <vector>

#include "objective/cox.h"
#include "training.h"

namespace xgbgpu::plugin {

/// Of the matrices of one booster, each sorted once for the labels that it has. May be used by several threads.
class TimeOrders {
 public:
  /// The rows of `data`, whose `targets` are those of `mark`. Kept while the matrix lives: 8 bytes a row.
  std::shared_ptr<host::SortedTimes const> Get(std::shared_ptr<xgboost::DMatrix> const& data, TargetView const& targets,
                                               TargetMark const& mark);
  /// Frees what is of matrices that are gone.
  void DropExpired();

 private:
  struct Kept {
    std::weak_ptr<xgboost::DMatrix> owner;
    TargetMark mark;
    std::shared_ptr<host::SortedTimes const> times;
  };

  std::mutex mutex_;
  std::vector<Kept> kept_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_TIME_ORDERS_H_
