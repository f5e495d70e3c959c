// What all rows decide, where several devices have them, equals the host's, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "collective/peer_devices_cuda.h"
#include "objective/leaf_quantile_cuda.h"
#include "objective/objective_cuda.h"
#include "support/grow.h"
#include "support/leaf_quantile_case.h"
#include "support/objective_case.h"
#include "xgbgpu/devices.h"

namespace xgbgpu::testing {
namespace {

constexpr int kParts = 3;

/// Says that there are other devices, and exchanges nothing.
class SilentDevices final : public cuda::DeviceCollective {
 public:
  bool alone() const override { return false; }
  int devices() const override { return 2; }
  int device() const override { return 0; }
  void Combine(cuda::DeviceNumbers const&, bool const*, cudaStream_t) override {}
  void Sum(std::int64_t*, std::uint64_t, cudaStream_t) override {}
  void SumLevel(cuda::GrowingTree const&, cuda::DeviceHistograms const&, cuda::LevelBounds const&,
                cudaStream_t) override {}
  void ShareLevel(cuda::GrowingTree const&, cuda::DeviceHistograms const&, cuda::CellShares const&,
                  cuda::LevelBounds const&, cudaStream_t) override {}
  void BestOfLevel(cuda::GrowingTree const&, cuda::LevelBounds const&, cudaStream_t) override {}
  void Check() const override {}
};

/// Three shards on the devices that there are. One thread enqueues their calls one after the other. So none may take
/// memory or load a kernel: for either the device would end its work first, which waits for the next shard.
class SeveralDevicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    std::vector<int> devices;
    for (int i = 0; i < kParts; ++i) devices.push_back(i % CudaDeviceCount());
    peers_ = std::make_unique<cuda::PeerDevices>(devices, 30);
  }

  /// The device, memory and stream of a shard.
  struct Part {
    explicit Part(int ordinal) : device{ordinal} {}

    int device;  ///< current while this is made and while it goes
    DeviceLimits limits{CurrentDeviceLimits()};
    DeviceArena arena{"This test"};
    Stream stream;
  };

  /// Returns the first row of a shard. Shards are uneven.
  static std::size_t First(std::size_t rows, int shard) {
    std::size_t const firsts[] = {0, std::max<std::size_t>(1, rows / 7), std::max<std::size_t>(2, rows / 2), rows};
    return firsts[shard];
  }

  std::unique_ptr<cuda::PeerDevices> peers_;
};

struct QuantilePart {
  std::unique_ptr<cuda::LeafQuantileScratch> scratch;
  DeviceBuffer<NodeIndex> positions;
  DeviceBuffer<float> residuals, values;
};

TEST_F(SeveralDevicesTest, QuantilesOfLeaves) {
  for (LeafRows const& c : LeafQuantileCases()) {
    std::size_t const rows = c.positions.size();
    if (rows < kParts) continue;
    for (float const alpha : kAlphas) {
      std::vector<float> const old = c.OldValues(), expected = c.Quantiles(alpha, false, 2);
      std::vector<std::unique_ptr<Part>> parts;
      std::vector<QuantilePart> data(kParts);
      auto const enqueue = [&](int i, cuda::DeviceCollective* devices) {
        Part const& part = *parts[i];
        DeviceScope const scope{part.device};
        QuantilePart& of = data[i];
        cuda::QuantileLeaves(of.positions.data(), of.residuals.data(), nullptr, alpha, of.positions.size(),
                             of.values.data(), c.nodes, of.scratch.get(), part.limits, part.stream, devices);
      };
      for (int i = 0; i < kParts; ++i) {
        int const device = i % CudaDeviceCount();
        DeviceScope const scope{device};
        parts.push_back(std::make_unique<Part>(device));
        Part& part = *parts[i];
        QuantilePart& of = data[i];
        std::size_t const first = First(rows, i), n = First(rows, i + 1) - first;
        of.scratch = std::make_unique<cuda::LeafQuantileScratch>(&part.arena);
        of.positions = Upload(&part.arena, "positions", c.positions.data() + first, n);
        of.residuals = Upload(&part.arena, "residuals", c.residuals.data() + first, n);
        of.values = Upload(&part.arena, "nodes", old.data(), c.nodes);
        SilentDevices silent;
        enqueue(i, &silent);  // takes memory, and loads the kernels
        of.values = Upload(&part.arena, "nodes", old.data(), c.nodes);
        part.stream.Wait("taking memory");
      }
      for (int i = 0; i < kParts; ++i) enqueue(i, peers_->of(i));
      for (int i = 0; i < kParts; ++i) {
        DeviceScope const scope{parts[i]->device};
        std::vector<float> found(c.nodes);
        CopyToHost(found.data(), data[i].values.data(), c.nodes, parts[i]->stream, "copying quantiles");
        parts[i]->stream.Wait("quantiles");
        peers_->of(i)->Check();
        for (std::size_t node = 0; node < c.nodes; ++node) {
          ASSERT_EQ(std::memcmp(&found[node], &expected[node], sizeof(float)), 0)
              << c.name << ", quantile " << alpha << ", shard " << i << ", node " << node << ": " << found[node]
              << ", on the host " << expected[node];
        }
      }
      while (!parts.empty()) {
        DeviceScope const scope{parts.back()->device};
        data.pop_back();
        parts.pop_back();
      }
    }
  }
}

struct GradientPart {
  std::unique_ptr<cuda::ObjectiveScratch> scratch;
  DeviceBuffer<float> margins, labels, weights;
  DeviceBuffer<GradientPair> gradients;
};

/// 17 outputs have more scales than devices combine at once.
TEST_F(SeveralDevicesTest, ScalesOfLosses) {
  constexpr std::size_t kRows = 10007;
  for (Objective const kind : {Objective::kSmoothAbsoluteError, Objective::kSmoothQuantile}) {
    for (std::uint32_t const outputs : {1U, 3U, 17U}) {
      for (bool const weighted : {false, true}) {
        ObjectiveParams params{kind};
        std::uint32_t const label_columns = HasAlphas(kind) ? 1 : outputs;
        for (std::uint32_t k = 0; HasAlphas(kind) && k < outputs; ++k) params.alphas.push_back(0.9f - 0.05f * k);
        Random random{outputs + (weighted ? 100U : 0U)};
        std::vector<float> margins(kRows * outputs), labels(kRows * label_columns), weights(kRows);
        for (float& v : margins) v = random.Between(-5, 5);
        for (float& v : labels) v = random.Between(-5, 5);
        for (float& v : weights) v = random.Between(0, 3);
        margins[outputs * (kRows - 3)] = 1e20f;  // one shard has the largest term of the first output
        TargetView targets;
        targets.labels = labels.data();
        targets.label_columns = label_columns;
        targets.weights = weighted ? weights.data() : nullptr;
        std::vector<GradientPair> expected(kRows * outputs);
        host::ComputeGradients(params, targets, RowMajor<float const>(margins.data(), kRows, outputs),
                               RowMajor(expected.data(), kRows, outputs), 2);

        std::vector<std::unique_ptr<Part>> parts;
        std::vector<GradientPart> data(kParts);
        auto const enqueue = [&](int i, cuda::DeviceCollective* devices) {
          Part const& part = *parts[i];
          DeviceScope const scope{part.device};
          GradientPart& of = data[i];
          std::uint64_t const n = of.margins.size() / outputs;
          TargetView own = targets;
          own.labels = of.labels.data();
          own.weights = weighted ? of.weights.data() : nullptr;
          cuda::ComputeGradients(params, own, RowMajor<float const>(of.margins.data(), n, outputs),
                                 RowMajor(of.gradients.data(), n, outputs), part.limits, part.stream, of.scratch.get(),
                                 devices);
        };
        for (int i = 0; i < kParts; ++i) {
          int const device = i % CudaDeviceCount();
          DeviceScope const scope{device};
          parts.push_back(std::make_unique<Part>(device));
          Part& part = *parts[i];
          GradientPart& of = data[i];
          std::size_t const first = First(kRows, i), n = First(kRows, i + 1) - first;
          of.scratch = std::make_unique<cuda::ObjectiveScratch>(&part.arena);
          of.margins = Upload(&part.arena, "margins", margins.data() + first * outputs, n * outputs);
          of.labels = Upload(&part.arena, "labels", labels.data() + first * label_columns, n * label_columns);
          of.weights = Upload(&part.arena, "weights", weights.data() + first, n);
          of.gradients = {&part.arena, "gradients", n * outputs};
          enqueue(i, cuda::NoOtherDevices::Instance());  // takes memory
          part.stream.Wait("taking memory");
        }
        for (int i = 0; i < kParts; ++i) enqueue(i, peers_->of(i));
        for (int i = 0; i < kParts; ++i) {
          DeviceScope const scope{parts[i]->device};
          std::vector<GradientPair> found(data[i].gradients.size());
          CopyToHost(found.data(), data[i].gradients.data(), found.size(), parts[i]->stream, "copying gradients");
          parts[i]->stream.Wait("gradients");
          peers_->of(i)->Check();
          std::size_t const first = First(kRows, i) * outputs;
          ASSERT_EQ(std::memcmp(found.data(), expected.data() + first, found.size() * sizeof(GradientPair)), 0)
              << NameOf(kind) << ", " << outputs << " outputs" << (weighted ? ", weights" : "") << ", shard " << i;
        }
        while (!parts.empty()) {
          DeviceScope const scope{parts.back()->device};
          data.pop_back();
          parts.pop_back();
        }
      }
    }
  }
}

}  // namespace
}  // namespace xgbgpu::testing
