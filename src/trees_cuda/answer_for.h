/// Remembers whether trees of some parameters fit a device.
#ifndef XGBGPU_TREES_CUDA_ANSWER_FOR_H_
#define XGBGPU_TREES_CUDA_ANSWER_FOR_H_

#include <optional>
#include <utility>

#include "xgbgpu/params.h"

namespace xgbgpu::cuda {

/// The answer for the last parameters asked for. Parameters that change from round to round and take no memory do not
/// count. Free memory is so looked at once, before it is taken.
class AnswerFor {
 public:
  template <typename Find>
  bool Answer(TrainParams const& params, Find&& find) {
    TrainParams asked = params;
    asked.learning_rate = 0;
    asked.seed = 0;
    if (!params_ || !(*params_ == asked)) {
      answer_ = find();
      params_ = std::move(asked);
    }
    return answer_;
  }

 private:
  std::optional<TrainParams> params_;
  bool answer_{false};
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_ANSWER_FOR_H_
