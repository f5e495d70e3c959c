// Predicts whole models on a CUDA device, to which rows are streamed.
#include "predict/predictor_cuda.h"

#include <map>
#include <mutex>
#include <optional>

#include "cuda/device.h"
#include "predict/forest_cuda.h"
#include "predict/level_forest_cuda.h"
#include "predict/row_stream_cuda.h"

namespace xgbgpu {

namespace {

/// The stream of rows to a device, shared by all models of the process. A caller that finds it in use makes its own. It
/// is never freed, because the driver may be gone when the process ends.
class SharedRows {
 public:
  static SharedRows& Of(int device) {
    static std::mutex mutex;
    static auto* const all = new std::map<int, SharedRows>;
    std::lock_guard<std::mutex> const lock{mutex};
    return (*all)[device];
  }
  /// Calls predict(rows), or predict(nullptr) if they are in use.
  template <typename F>
  void Use(F&& predict) {
    std::unique_lock<std::mutex> const lock{mutex_, std::try_to_lock};
    predict(lock ? &rows_ : nullptr);
  }

 private:
  std::mutex mutex_;
  cuda::RowStream rows_;
};

class CudaPredictor final : public DevicePredictor {
 public:
  CudaPredictor(Forest const& forest, int device) : device_{device} {
    DeviceScope scope{device_};
    forest_ = std::make_unique<cuda::DeviceForest>(&arena_);
    Stream const stream;
    forest_->Append(forest, 0, forest.trees(), stream);
    if (forest.weighted()) forest_->SetWeights(forest.weights(), stream);
    stream.Wait("copying a model");
    try {
      if (auto const symmetric = LevelForest::Of(forest)) levels_.emplace(*symmetric, &arena_);
    } catch (OutOfDeviceMemory const&) {
      // The rows walk instead.
    }
  }
  ~CudaPredictor() override {
    try {
      DeviceScope scope{device_};
      levels_.reset();
      forest_.reset();
    } catch (DeviceError const&) {
      // A failed device, or a forked process without it, has nothing left to free.
    }
  }

  std::size_t trees() const override { return forest_->trees(); }
  void PredictMargins(RowSource const& source, std::size_t first, std::size_t last, OutputView<float> margins,
                      int threads) override {
    SharedRows::Of(device_).Use([&](cuda::RowStream* rows) {
      if (levels_) {
        cuda::PredictMarginsStreamed(source, &*levels_, first, last, margins, device_, threads, rows);
      } else {
        cuda::PredictMarginsStreamed(source, forest_.get(), first, last, margins, device_, threads, rows);
      }
    });
  }
  void PredictLeaves(RowSource const& source, std::size_t first, std::size_t last, float* out, int threads) override {
    SharedRows::Of(device_).Use([&](cuda::RowStream* rows) {
      cuda::PredictLeavesStreamed(source, forest_.get(), first, last, out, device_, threads, rows);
    });
  }

 private:
  int device_;
  DeviceArena arena_{"Predicting on the GPU"};
  std::unique_ptr<cuda::DeviceForest> forest_;
  std::optional<cuda::DeviceLevelForest> levels_;  ///< for margins, if the trees are symmetric
};

}  // namespace

std::unique_ptr<DevicePredictor> cuda::MakePredictor(Forest const& forest, int device) {
  return std::make_unique<CudaPredictor>(forest, device);
}

}  // namespace xgbgpu
