/// Rows of rounds that lie on several CUDA devices. CUDA builds only.
#ifndef XGBGPU_SHARDS_SHARDED_ROWS_H_
#define XGBGPU_SHARDS_SHARDED_ROWS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "rounds/resident_rows_cuda.h"

namespace xgbgpu {

/// Each device has its shard of the rows, with their margins, labels, gradients and columns of a dart. Rankings, Cox,
/// losses with a scale, quantiles and metrics need all rows in their order. The first device computes them, from copies
/// of the rows of all devices, so the bits are the bits of one device.
///
/// Memory  on the first device the memory of all rows, 16 bytes a row and more, from the first such call on
class ShardedRows : public ResidentRows {
 public:
  using Shards = std::vector<std::unique_ptr<cuda::DeviceResidentRows>>;
  /// Calls its argument for every shard at the same time, with the shard's number.
  using RunAll = std::function<void(std::function<void(std::size_t)> const&)>;

  /// `shards` have consecutive rows. run_all() is for work that takes the time of the host. make_whole() makes memory
  /// for all rows on the device of the first shard, on its stream.
  ShardedRows(Shards shards, RunAll run_all, std::function<std::unique_ptr<cuda::DeviceResidentRows>()> make_whole);

  cuda::DeviceResidentRows* shard(std::size_t s) { return shards_[s].get(); }

  std::uint64_t rows() const override { return first_.back(); }
  std::uint32_t outputs() const override { return shards_[0]->outputs(); }
  void SetMargins(Span<float const> margins) override;
  void SetEqualMargins(Span<float const> margins) override;
  void CopyMargins(Span<float> margins) const override;
  void BeginColumns(Span<float const> base) override;
  void EndColumns() override;
  bool has_columns() const override { return shards_[0]->has_columns(); }
  std::size_t columns() const override { return shards_[0]->columns(); }
  bool ReserveColumns(std::size_t more) override;
  void AddColumn(Span<float const> values, std::uint32_t output) override;
  void WeighColumns(Span<float const> weights) override;
  void SetTargets(TargetView const& targets) override;
  void ComputeGradients(ObjectiveParams const& objective) override;
  std::vector<std::int64_t> PositionLosses(std::size_t positions) override { return whole_->PositionLosses(positions); }
  void AddTrees(std::size_t first, std::size_t last) override;
  double Evaluate(ObjectiveParams const& objective, MetricParams const& metric) override;

  /// cuda::DeviceResidentRows::QuantileLeaves over all rows. positions[s]: of the rows of shard s, on its device,
  /// computed on streams[s]. `node_values` [nodes] are on the host, and become quantiles. Waits.
  void QuantileLeaves(std::uint32_t output, std::vector<NodeIndex const*> const& positions,
                      std::vector<cudaStream_t> const& streams, Span<float> node_values);

 private:
  /// Calls f(shard, first row, rows) for every shard, in order.
  template <typename F>
  void ForShards(F&& f) const {
    for (std::size_t s = 0; s < shards_.size(); ++s) f(*shards_[s], first_[s], first_[s + 1] - first_[s]);
  }
  /// Calls f(shard, first row, rows) for all shards at the same time.
  template <typename F>
  void ForShardsAtOnce(F&& f) const {
    run_all_([&](std::size_t s) {
      if (s < shards_.size()) f(*shards_[s], first_[s], first_[s + 1] - first_[s]);
    });
  }
  void ShareLargest();
  /// Returns all rows, with the targets of the shards.
  cuda::DeviceResidentRows* WholeWithTargets();
  /// Returns all rows, with the targets and margins of the shards.
  cuda::DeviceResidentRows* Whole();

  Shards shards_;
  std::vector<std::uint64_t> first_;  ///< [shards + 1] number of each shard's first row, and of all rows
  RunAll run_all_;
  std::function<std::unique_ptr<cuda::DeviceResidentRows>()> make_whole_;
  std::unique_ptr<cuda::DeviceResidentRows> whole_;
  bool whole_has_targets_{false};
  std::vector<std::uint64_t> taken_;  ///< [shards] version of the margins that whole_ has; empty: it has none
};

}  // namespace xgbgpu

#endif  // XGBGPU_SHARDS_SHARDED_ROWS_H_
