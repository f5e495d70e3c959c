// Gradients of the ranking objectives on a device equal the host's, bit for bit.
#include <gtest/gtest.h>

#include <cstring>

#include "objective/objective_cuda.h"
#include "support/grow.h"
#include "support/rank_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

/// Keeps rows on the device. What ranking keeps there stays from call to call.
class DeviceRanking {
 public:
  void Expect(RankRows const& rows, ObjectiveParams const& params, bool weighted, bool grouped) {
    TargetView on_host = rows.Targets(weighted);
    if (!grouped) {
      on_host.groups = 0;
      on_host.group_ptr = nullptr;
    }
    std::size_t const n = rows.rows();
    auto const margins = Upload(&arena_, "margins", rows.margins.data(), n);
    auto const labels = Upload(&arena_, "labels", rows.labels.data(), n);
    auto const weights = Upload(&arena_, "weights", rows.weights.data(), rows.weights.size());
    auto const group_ptr = Upload(&arena_, "groups", rows.group_ptr.data(), rows.group_ptr.size());
    DeviceBuffer<GradientPair> const out{&arena_, "gradients", n};
    TargetView targets = on_host;
    targets.labels = labels.data();
    targets.weights = weighted ? weights.data() : nullptr;
    targets.group_ptr = grouped ? group_ptr.data() : nullptr;
    cuda::ComputeGradients(params, targets, OutputMajor<float const>(margins.data(), n, 1),
                           OutputMajor(out.data(), n, 1), limits_, stream_, &scratch_);
    std::vector<GradientPair> found(n);
    CopyToHost(found.data(), out.data(), n, stream_, "copying gradients");
    stream_.Wait("computing gradients");
    auto const expected = rows.Gradients(params, on_host, 2);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(std::memcmp(&found[i], &expected[i], sizeof(found[i])), 0)
          << "row " << i << " of " << n << ", kind " << static_cast<int>(params.kind) << (weighted ? ", weights" : "")
          << (grouped ? "" : ", no groups") << ": (" << found[i].grad << ", " << found[i].hess << "), on the host ("
          << expected[i].grad << ", " << expected[i].hess << ")";
    }
  }

 private:
  DeviceArena arena_{"This test"};
  Stream stream_;
  DeviceLimits limits_{CurrentDeviceLimits()};
  cuda::ObjectiveScratch scratch_{&arena_};
};

/// Compares every kind of ranking, with weights and without, by groups and with all rows as one.
void ExpectAll(std::vector<std::vector<std::uint32_t>> const& sizes) {
  DeviceRanking device;
  for (auto const& of_groups : sizes) {
    for (std::size_t const levels : {2, 31}) {
      RankRows rows{of_groups, levels, 7};
      for (float& label : rows.labels) label = label >= 31 ? 30 : label;
      for (Objective const kind : kRankings) {
        for (bool const weighted : {false, true}) device.Expect(rows, RankParams(kind, 1), weighted, true);
        device.Expect(rows, RankParams(kind, 6, 1.5f), true, true);
        device.Expect(rows, RankParams(kind, 2), false, false);
      }
    }
  }
}

TEST(CudaRankTest, SmallGroupsEqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  ExpectAll({{1}, {2, 0, 1, 33, 0, 64}, {5, 5, 5}});
}

TEST(CudaRankTest, EqualsTheHost) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  std::vector<std::uint32_t> many(20000);
  Random random{3};
  for (auto& size : many) size = static_cast<std::uint32_t>(random.Below(60));
  // A large set comes between small ones: kept memory is used for less, and grows.
  ExpectAll({{1}, {100000, 1, 1000, 0, 31, 32}, {5, 5, 5}, many, {300000}});
}

TEST(CudaRankTest, NeedsMemoryOfItsCaller) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  Stream const stream;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] {
                  cuda::ComputeGradients(RankParams(Objective::kRankMap, 1), {}, {}, {}, CurrentDeviceLimits(), stream);
                },
                {"RankScratch is null"}),
            "");
}

}  // namespace
}  // namespace xgbgpu::testing
