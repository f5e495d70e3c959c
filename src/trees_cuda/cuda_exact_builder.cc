// Grows exact trees on a CUDA device.
#include "trees_cuda/cuda_exact_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/stages.h"
#include "exact/exact_growth.h"
#include "exact/exact_memory.h"
#include "predict/predict_cuda.h"
#include "sample/sample.h"
#include "trees_cuda/cuda_builder.h"

namespace xgbgpu {

namespace {

class CudaExactBuilder final : public CudaBuilder {
 public:
  CudaExactBuilder(std::shared_ptr<SortedMatrix const> const& matrix, int device, int threads)
      : CudaBuilder{device,
                    matrix->rows,
                    matrix->features(),
                    threads,
                    "Training exact trees on the GPU (" + ExactDeviceNeeds(*matrix) + ")",
                    "tree_method=gpu_hist"},
        growth_{matrix, threads, mutable_arena(), stream()} {
    EndConstruction();
  }
  ~CudaExactBuilder() override { Close(); }

  using CudaBuilder::AddLeafValues;

  /// One tree grows at a time: a level of one tree fills the device.
  void Begin(TrainParams const& params, cuda::DeviceResidentRows* rows, std::vector<RoundTree> trees) override {
    ValidateExact(params);
    params_ = params;
    round_rows_ = rows;
    waiting_ = std::move(trees);
    std::reverse(waiting_.begin(), waiting_.end());
    Run([&] { round_rows_->gradients(0); });  // computed while the host goes on
  }
  Tree FinishNext() override {
    RoundTree const next = waiting_.back();
    waiting_.pop_back();
    return GrowOnDevice(params_, Run([&] { return round_rows_->gradients(next.output); }), next.key);
  }
  void Abandon() noexcept override {
    waiting_.clear();
    ForgetTree();
  }
  void AddLeafValues(Span<float const> node_values, cuda::DeviceResidentRows* rows, std::uint32_t output) override {
    CheckNodes("AddLeafValues", node_values.size());
    Run([&] {
      timer().Run(kMargins, kNoLevel, [&] {
        cuda::AddLeafValues(positions(), this->rows(), UploadNodeValues(node_values),
                            rows->LeafTarget(output, node_values, stream()), 1, limits(), stream());
      });
      stream().Wait("adding leaf values");  // the values' source may go
    });
  }

  void SetTimeline(Timeline* timeline) override { growth_.timer().SetTimeline(timeline); }

 private:
  Tree GrowOnDevice(TrainParams const& params, cuda::DeviceGradients const& gradients, TreeKey key) override {
    ForgetTree();
    sampler_.emplace(params, features(), TreeNumber(key));
    ExactNodes const nodes = Run([&] {
      if (!growth_.Begin(params, *sampler_, gradients, TreeNumber(key))) ThrowNotFinite(gradients.pairs, stream());
      growth_.BuildRoot();
      while (growth_.SelectNodes()) growth_.ExpandNodes();
      return growth_.Finish();
    });
    MoveTrace();
    Tree tree = MakeExactTree(nodes, growth_.split_params(), params.learning_rate, growth_.constraints());
    SetTree(tree.size());
    return tree;
  }
  GradientPair* GradientBuffer() override {
    Reserve(&gradients_, mutable_arena(), "gradients", rows());
    return gradients_.data();
  }
  NodeIndex const* positions() const override { return growth_.positions(); }
  float* UploadNodeValues(Span<float const> node_values) override {
    Reserve(&node_values_, mutable_arena(), "nodes", node_values.size());
    CopyToDevice(node_values_.data(), node_values.data(), node_values.size(), stream(), "copying leaf values");
    return node_values_.data();
  }
  StageTimer const& timer() override { return growth_.timer(); }

  cuda::ExactGrowth growth_;
  DeviceBuffer<GradientPair> gradients_;
  DeviceBuffer<float> node_values_;
  TrainParams params_;
  std::optional<FeatureSampler> sampler_;
  cuda::DeviceResidentRows* round_rows_{nullptr};
  std::vector<RoundTree> waiting_;  ///< trees of a round that have not been grown; the next one is last
};

}  // namespace

std::unique_ptr<TreeBuilder> MakeCudaExactBuilder(std::shared_ptr<SortedMatrix const> matrix, int device, int threads) {
  auto const sizes = [&] { return WorkSizes{device, matrix->rows, matrix->features(), 0}; };
  return NamingSizes(sizes, [&] { return std::make_unique<CudaExactBuilder>(matrix, device, threads); });
}

}  // namespace xgbgpu
