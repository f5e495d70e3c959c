/// Copies of ours that proxies of XGBoost point to.
#ifndef XGBGPU_PLUGIN_DATA_PER_PROXY_H_
#define XGBGPU_PLUGIN_DATA_PER_PROXY_H_

#include <xgboost/c_api.h>

#include <map>
#include <mutex>
#include <utility>

namespace xgbgpu::plugin {

/// Keeps values of a proxy's batch until its next batch, or its end.
template <typename Values>
class PerProxy {
 public:
  static PerProxy& Instance() {
    static auto* const kInstance = new PerProxy;  // never destroyed: matrices may be freed at the very end
    return *kInstance;
  }
  Values const& Keep(DMatrixHandle proxy, Values values) {
    std::lock_guard<std::mutex> const lock{mutex_};
    return values_.insert_or_assign(proxy, std::move(values)).first->second;
  }
  void Drop(DMatrixHandle proxy) {
    std::lock_guard<std::mutex> const lock{mutex_};
    values_.erase(proxy);
  }

 private:
  std::mutex mutex_;
  std::map<DMatrixHandle, Values> values_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_PER_PROXY_H_
