// Gradients of the ranking objectives on a device equal the host's, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "objective/objective_cuda.h"
#include "support/grow.h"
#include "support/rank_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

std::uint32_t LargestOf(RankRows const& rows) {
  std::uint32_t largest = 0;
  for (std::size_t g = 1; g < rows.group_ptr.size(); ++g) {
    largest = std::max(largest, rows.group_ptr[g] - rows.group_ptr[g - 1]);
  }
  return largest;
}

/// Keeps rows on the device. What ranking keeps there stays from call to call.
class DeviceRanking {
 public:
  /// Says from the next comparison on whether the device gets the size of the largest group. It sorts otherwise then.
  void TellLargest(bool tells) { tells_largest_ = tells; }
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
    scratch_.ranking.largest_group = grouped && tells_largest_ ? LargestOf(rows) : 0;
    cuda::ComputeGradients(params, targets, OutputMajor<float const>(margins.data(), n, 1),
                           OutputMajor(out.data(), n, 1), limits_, stream_, &scratch_);
    std::vector<GradientPair> found(n);
    CopyToHost(found.data(), out.data(), n, stream_, "copying gradients");
    stream_.Wait("computing gradients");
    std::vector<std::int64_t> losses;
    auto const expected = rows.Gradients(params, on_host, 2, &losses);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(std::memcmp(&found[i], &expected[i], sizeof(found[i])), 0)
          << "row " << i << " of " << n << ", kind " << static_cast<int>(params.kind) << TextOf(params.lambdarank)
          << (weighted ? ", weights" : "") << (tells_largest_ ? ", largest group known" : "")
          << (grouped ? "" : ", no groups") << ": (" << found[i].grad << ", " << found[i].hess << "), on the host ("
          << expected[i].grad << ", " << expected[i].hess << ")";
    }
    if (losses.empty()) return;
    std::vector<std::int64_t> found_losses(losses.size());
    CopyToHost(found_losses.data(), scratch_.ranking.losses.data(), losses.size(), stream_, "copying losses");
    stream_.Wait("copying losses");
    ASSERT_EQ(found_losses, losses) << TextOf(params.lambdarank);
  }

 private:
  static std::string TextOf(LambdaRank const& how) {
    if (!how.is_used) return "";
    return (how.has_top ? ", topk " : ", mean ") + std::to_string(how.pairs) + (how.normalizes ? ", normalized" : "") +
           (how.normalizes_by_score ? ", by score" : "") + (how.has_exp_gain ? ", 2^label" : "") +
           (how.is_unbiased ? ", unbiased" : "");
  }

  bool tells_largest_{false};
  DeviceArena arena_{"This test"};
  Stream stream_;
  DeviceLimits limits_{CurrentDeviceLimits()};
  cuda::ObjectiveScratch scratch_{&arena_};
};

/// Compares LambdaRank of one kind, with each of its parameters; of many rows with the defaults and with a draw.
void ExpectLambdas(RankRows const& rows, Objective kind, DeviceRanking* device) {
  constexpr std::size_t kManyRows = 50'000;  // the host takes half a second
  bool const many = rows.rows() > kManyRows;
  ObjectiveParams params = RankParams(kind, 1);
  LambdaRank& how = params.lambdarank;
  how.is_used = true;
  for (bool const has_top : {true, false}) {
    how.has_top = has_top;
    std::vector<std::uint32_t> const numbers = many      ? std::vector<std::uint32_t>{has_top ? 32U : 1U}
                                               : has_top ? std::vector<std::uint32_t>{1, 2, 5, 32, 40}
                                                         : std::vector<std::uint32_t>{1, 5};
    for (std::uint32_t const pairs : numbers) {
      how.pairs = pairs;
      for (int const flags : many ? std::vector<int>{7} : std::vector<int>{7, 0, 1, 2, 4}) {
        how.normalizes = (flags & 1) != 0;
        how.normalizes_by_score = (flags & 2) != 0;
        how.has_exp_gain = (flags & 4) != 0;
        ASSERT_NO_FATAL_FAILURE(device->Expect(rows, params, true, true));
      }
      how.is_unbiased = true;
      params.biases = SomeBiases(pairs < 32 ? pairs + 3 : 32);
      ASSERT_NO_FATAL_FAILURE(device->Expect(rows, params, true, true));
      how.is_unbiased = false;
      params.biases = {};
      if (many) continue;
      ASSERT_NO_FATAL_FAILURE(device->Expect(rows, params, false, true));
      ASSERT_NO_FATAL_FAILURE(device->Expect(rows, params, false, false));
    }
  }
}

/// Compares every kind of ranking, with weights and without, by groups and with all rows as one.
void ExpectAll(std::vector<std::vector<std::uint32_t>> const& sizes) {
  DeviceRanking device;
  bool tells_largest = false;
  for (auto const& of_groups : sizes) {
    device.TellLargest(tells_largest = !tells_largest);
    for (std::size_t const levels : {2, 31}) {
      RankRows rows{of_groups, levels, 7};
      for (float& label : rows.labels) label = label >= 31 ? 30 : label;
      for (Objective const kind : kRankings) {
        for (bool const weighted : {false, true}) device.Expect(rows, RankParams(kind, 1), weighted, true);
        device.Expect(rows, RankParams(kind, 6, 1.5f), true, true);
        device.Expect(rows, RankParams(kind, 2), false, false);
        ASSERT_NO_FATAL_FAILURE(ExpectLambdas(rows, kind, &device));
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

TEST(CudaRankTest, EverySizeOfAGroup) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 1; size <= 256; ++size) sizes.push_back(size);
  std::vector<std::uint32_t> twos(3000, 2), large{1, 2, 33, 257, 1000, 5000};
  ExpectAll({sizes, sizes, twos, large, large});
}

TEST(CudaRankTest, RowsThatAreAllEqual) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  RankRows rows{{100, 1, 300, 40}, 3, 11};
  DeviceRanking device;
  for (bool const tells : {true, false}) {
    device.TellLargest(tells);
    for (Objective const kind : kRankings) {
      std::fill(rows.margins.begin(), rows.margins.end(), 0.5f);
      ASSERT_NO_FATAL_FAILURE(ExpectLambdas(rows, kind, &device));
      RankRows same = rows;
      std::fill(same.labels.begin(), same.labels.end(), 1.0f);
      ASSERT_NO_FATAL_FAILURE(ExpectLambdas(same, kind, &device));
    }
  }
}

TEST(CudaRankTest, MarginsThatAreNotFinite) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  RankRows rows{{100, 2, 300}, 3, 12};
  for (std::size_t i = 0; i < rows.margins.size(); i += 7) rows.margins[i] = i % 2 == 0 ? NAN : INFINITY;
  DeviceRanking device;
  for (Objective const kind : kRankings) ASSERT_NO_FATAL_FAILURE(ExpectLambdas(rows, kind, &device));
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
