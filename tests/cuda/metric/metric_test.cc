// Metrics on a device equal the host's, bit for bit: the same number, or the same error.
#include "xgbgpu/metric.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/portable_float.h"
#include "metric/metric_cuda.h"
#include "objective/cox_cuda.h"
#include "support/cox_case.h"
#include "support/data.h"
#include "support/grow.h"
#include "support/metric_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

std::uint64_t Bits(double v) {
  std::uint64_t bits;
  std::memcpy(&bits, &v, sizeof(bits));
  return bits;
}

/// Evaluates on a device with one scratch for all: what an evaluation leaves there must not change the next one.
class Device {
 public:
  double Evaluate(MetricParams const& params, MetricCase const& c) {
    auto const predictions = Upload(&arena_, "predictions", c.predictions.data(), c.predictions.size());
    auto const labels = Upload(&arena_, "labels", c.labels.data(), c.labels.size());
    auto const weights = Upload(&arena_, "weights", c.weights.data(), c.weights.size());
    auto const groups = Upload(&arena_, "groups", c.groups.data(), c.groups.size());
    auto const lower = Upload(&arena_, "bounds", c.lower.data(), c.lower.size());
    auto const upper = Upload(&arena_, "bounds", c.upper.data(), c.upper.size());
    TargetView targets = c.Targets();
    targets.labels = labels.data();
    targets.lower = lower.data();
    targets.upper = upper.data();
    targets.weights = weights.data();
    targets.group_ptr = groups.data();
    cuda::SortedTimes times;
    if (params.kind == Metric::kCoxNloglik && c.rows != 0) {
      times = cuda::SortTimes(labels.data(), c.rows, &arena_, limits_, stream_);
      targets.by_time = times.view();
    }
    return cuda::Evaluate(params, targets, c.View(predictions.data()), &scratch_, limits_, stream_);
  }
  void ForgetMemory() { scratch_ = cuda::MetricScratch{&arena_}; }

 private:
  DeviceArena arena_{"This test"};
  cuda::MetricScratch scratch_{&arena_};
  Stream stream_;
  DeviceLimits limits_{CurrentDeviceLimits()};
};

class CudaMetricTest : public ::testing::TestWithParam<char const*> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  static MetricParams Params() {
    MetricParams params = *MetricByName(GetParam());
    params.huber_slope = 1.7f;
    return params;
  }
  static bool OfClasses() {
    Metric const kind = Params().kind;
    return kind == Metric::kMerror || kind == Metric::kMlogloss || IsArea();
  }
  static bool IsArea() { return Params().kind == Metric::kAuc || Params().kind == Metric::kAucpr; }

  /// Makes labels that every metric takes, classes or 0 and 1, and `levels` different predictions in (0, 1).
  static MetricCase Rows(std::uint64_t rows, std::uint32_t outputs, std::size_t levels, bool weighted) {
    Random random{rows * 31 + outputs * 7 + levels};
    MetricCase c{rows, OfClasses() ? 1 : outputs, outputs};
    std::size_t const classes = OfClasses() && !(IsArea() && outputs == 1) ? outputs : 2;
    for (std::size_t i = 0; i < rows * c.label_columns; ++i) {
      c.labels.push_back(static_cast<float>(random.Below(classes)));
    }
    for (std::size_t i = 0; i < rows * outputs; ++i) {
      auto const level = static_cast<float>(random.Below(levels) + 1);
      c.predictions.push_back(level / static_cast<float>(levels + 1));
    }
    for (std::size_t i = 0; weighted && i < rows; ++i) c.weights.push_back(random.Between(0, 3));
    return c;
  }

  static void ExpectEqual(MetricCase const& c, Device* device, std::string const& what) {
    double const expected = c.Evaluate(Params(), 2);
    double const found = device->Evaluate(Params(), c);
    EXPECT_EQ(Bits(found), Bits(expected)) << what << ": " << found << ", on the host " << expected;
    EXPECT_EQ(Bits(device->Evaluate(Params(), c.ByOutput())), Bits(expected)) << what << ", by output";
  }
  static void ExpectSameError(MetricCase const& c, Device* device) {
    std::string text;
    try {
      c.Evaluate(Params(), 2);
    } catch (Error const& e) {
      text = e.what();
    }
    ASSERT_FALSE(text.empty());
    EXPECT_EQ(WhatIsWrong<Error>([&] { device->Evaluate(Params(), c); }, {text}), "");
  }
};

TEST_P(CudaMetricTest, EqualsTheHosts) {
  Device device;
  for (std::uint64_t const rows : {300001, 1, 2, 31, 257, 2047, 2048, 2049, 70001}) {
    for (std::uint32_t const outputs : {1, 3}) {
      for (std::size_t const levels : {std::size_t{1}, std::size_t{3}, std::size_t{500}, std::size_t{1} << 24}) {
        for (bool const weighted : {false, true}) {
          ExpectEqual(Rows(rows, outputs, levels, weighted), &device,
                      std::to_string(rows) + " rows of " + std::to_string(outputs) + ", " + std::to_string(levels) +
                          " levels" + (weighted ? ", weights" : ""));
        }
      }
    }
  }
}

TEST_P(CudaMetricTest, MoreRowsThanTheGridTakesAtOnce) {
  Device device;
  ExpectEqual(Rows(5000011, 1, std::size_t{1} << 20, true), &device, "5000011 rows");
}

TEST_P(CudaMetricTest, NoRows) {
  Device device;
  EXPECT_EQ(Bits(device.Evaluate(Params(), MetricCase{0, 1, 1})), Bits(MetricCase(0, 1, 1).Evaluate(Params(), 1)));
}

TEST_P(CudaMetricTest, UnusualValues) {
  Device device;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (float const value : {0.0f, -0.0f, 1.0f, -1.0f, 1e-40f, 3e38f, kInfinity, -kInfinity,
                            std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()}) {
    std::string const what = std::to_string(value);
    MetricCase c = Rows(5000, 1, 1000, true);
    c.predictions[4321] = c.predictions[17] = value;
    ExpectEqual(c, &device, "prediction " + what);
    c = Rows(5000, 1, 1000, true);
    c.weights[4321] = value < 0 ? 0 : value;
    ExpectEqual(c, &device, "weight " + what);
    if (OfClasses()) continue;
    c = Rows(5000, 1, 1000, true);
    c.labels[4321] = value;
    ExpectEqual(c, &device, "label " + what);
  }
}

/// Labels are 0 or 1, or lie between. The device only finds out on the way that a row is not whole.
TEST_P(CudaMetricTest, AreasWithoutWeights) {
  if (!IsArea()) GTEST_SKIP() << "no area under a curve";
  Device device;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (std::uint32_t const outputs : {1, 3}) {
    for (float const value : {0.0f, -0.0f, 1e-45f, 1.0f, 3e38f, kInfinity, -1e-45f, -1.0f, -kInfinity,
                              std::numeric_limits<float>::quiet_NaN()}) {
      MetricCase c = Rows(5001, outputs, 1000, false);
      for (std::size_t i = 4000; i < 4700; ++i) c.predictions[i * outputs] = value;
      ExpectEqual(c, &device, "prediction " + std::to_string(value));
      device.ForgetMemory();
    }
    // Runs of equal predictions go across threads, across blocks of threads, and over all rows.
    for (std::uint64_t const rows : {2047, 2049, 4097, 1000003}) {
      for (std::size_t const levels : {std::size_t{1}, std::size_t{2}, std::size_t{40}, std::size_t{1} << 22}) {
        ExpectEqual(Rows(rows, outputs, levels, false), &device, std::to_string(rows) + " rows");
      }
    }
  }
  MetricCase c = Rows(5001, 1, 1000, false);
  c.labels[3000] = 0.5f;
  ExpectEqual(c, &device, "a label between the classes");
  ExpectEqual(Rows(5001, 1, 1000, false), &device, "after it");
  device.ForgetMemory();
  c.labels.assign(5001, 1.0f);
  ExpectEqual(c, &device, "one class");
}

TEST_P(CudaMetricTest, LabelsBetweenClasses) {
  if (Params().kind == Metric::kMerror || Params().kind == Metric::kMlogloss) GTEST_SKIP() << "labels are classes";
  Device device;
  MetricCase c = Rows(10000, 1, 700, true);
  Random random{3};
  for (float& label : c.labels) label = random.Uniform();
  ExpectEqual(c, &device, "labels in [0, 1)");
}

TEST_P(CudaMetricTest, ErrorsAreTheHosts) {
  Device device;
  MetricCase c = Rows(5000, 2, 100, true);
  c.labels.clear();
  ExpectSameError(c, &device);
  if (OfClasses() && !IsArea()) {
    for (float const bad : {2.0f, -1.0f, 1e20f, std::numeric_limits<float>::quiet_NaN()}) {
      c = Rows(300000, 2, 100, true);
      c.labels[299999] = 7;
      c.labels[123456] = bad;
      ExpectSameError(c, &device);
    }
  } else if (!IsArea()) {
    c = Rows(5000, 1, 100, true);
    c.groups = {0, 2000, 5000};
    ExpectSameError(c, &device);
  }
  // A failed evaluation leaves nothing behind.
  ExpectEqual(Rows(5000, 2, 100, true), &device, "after errors");
  device.ForgetMemory();
  ExpectEqual(Rows(5000, 2, 100, true), &device, "in fresh memory");
}

class CudaRankingMetricTest : public ::testing::TestWithParam<char const*> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  /// Makes groups of up to `largest` rows, some of them empty.
  static MetricCase Rows(std::uint32_t groups, std::size_t largest) {
    Random random{groups + largest};
    std::vector<std::uint32_t> sizes(groups);
    for (std::uint32_t& size : sizes) size = static_cast<std::uint32_t>(random.Below(largest + 1));
    return Rows(sizes);
  }
  static MetricCase Rows(std::vector<std::uint32_t> const& sizes) {
    Random random{sizes.size()};
    MetricCase c{0, 1, 1};
    c.groups = {0};
    for (std::uint32_t const size : sizes) {
      c.weights.push_back(static_cast<float>(c.weights.size() % 3));
      c.groups.push_back(c.groups.back() + size);
    }
    c.rows = c.groups.back();
    for (std::uint64_t i = 0; i < c.rows; ++i) {
      c.labels.push_back(static_cast<float>(random.Below(9) / 2));
      c.predictions.push_back(static_cast<float>(random.Below(500)) * 0.01f - 1);
    }
    if (MetricByName(GetParam())->kind == Metric::kAucpr) {
      for (float& label : c.labels) label = label < 4 ? static_cast<float>(static_cast<int>(label) % 2) : 0.3f;
    }
    return c;
  }
};

TEST_P(CudaRankingMetricTest, EqualsTheHosts) {
  MetricParams const params = *MetricByName(GetParam());
  Device device;
  for (auto const& [groups, largest] : {std::pair{3000U, 300}, {1U, 1}, {1U, 20000}, {7U, 3}, {100000U, 4}}) {
    MetricCase c = Rows(groups, static_cast<std::size_t>(largest));
    for (bool const grouped : {true, false}) {
      if (!grouped) {
        if (params.kind == Metric::kAuc || params.kind == Metric::kAucpr) continue;
        c.groups.clear();
        c.weights.clear();
      }
      double const expected = c.Evaluate(params, 2);
      double const found = device.Evaluate(params, c);
      EXPECT_EQ(Bits(found), Bits(expected))
          << groups << " groups of up to " << largest << " rows" << (grouped ? "" : ", as one") << ": " << found
          << ", on the host " << expected;
    }
  }
}

/// Several blocks of threads sum these groups, whose sizes are near a block's, and which begin at different places.
TEST_P(CudaRankingMetricTest, LongGroupsEqualTheHosts) {
  MetricParams const params = *MetricByName(GetParam());
  Device device;
  constexpr std::uint32_t kBlock = 2048;
  for (std::vector<std::uint32_t> const& sizes :
       {std::vector<std::uint32_t>{1, kBlock + 1, 2 * kBlock, 2 * kBlock + 1, 0, kBlock, kBlock - 1, 2, 3 * kBlock + 1},
        {kBlock + 1},
        {2 * kBlock},
        {kBlock - 1, kBlock + 1, kBlock + 1, kBlock + 2},
        {0, 0, 5 * kBlock, 0},
        {7, 20000, 9}}) {
    MetricCase const c = Rows(sizes);
    EXPECT_EQ(Bits(device.Evaluate(params, c)), Bits(c.Evaluate(params, 2))) << sizes.size() << " groups";
  }
  if (params.kind == Metric::kAuc) return;  // the host would compare 10^10 pairs
  MetricCase const c = Rows({300000, 5, 200000});
  EXPECT_EQ(Bits(device.Evaluate(params, c)), Bits(c.Evaluate(params, 2)));
}

TEST_P(CudaRankingMetricTest, ErrorsAreTheHosts) {
  Metric const kind = MetricByName(GetParam())->kind;
  if (kind != Metric::kNdcg && kind != Metric::kAucpr) GTEST_SKIP() << "takes any label";
  MetricCase c = Rows(3000, 300);
  c.labels[200000] = 31;
  c.labels[123456] = -2;
  Device device;
  std::string const allowed = kind == Metric::kNdcg ? "0 to 30" : "0 to 1";
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { device.Evaluate(*MetricByName(GetParam()), c); },
                                         {"row 123456 has label -2; allowed: " + allowed}),
            "");
}

INSTANTIATE_TEST_SUITE_P(Metrics, CudaRankingMetricTest,
                         ::testing::Values("pre@5", "map", "map@7-", "ndcg", "ndcg@10", "ndcg@3-", "auc", "aucpr"));

class CudaSurvivalMetricTest : public ::testing::TestWithParam<MetricParams> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(CudaSurvivalMetricTest, EqualsTheHosts) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Device device;
  for (std::uint64_t const rows : {1, 2, 2049, 300001}) {
    for (bool const weighted : {false, true}) {
      Random random{rows};
      MetricCase c{rows, 1, 1};
      for (std::uint64_t i = 0; i < rows; ++i) {
        float const time = random.Between(0, 20);
        std::size_t const kind = random.Below(5);
        c.lower.push_back(kind == 0 ? 0 : time);
        c.upper.push_back(kind == 1 ? kInfinity : kind == 2 ? time : time * 1.5f);
        c.predictions.push_back(random.Below(50) == 0 ? random.Between(-1e3f, 1e3f) : random.Between(-4, 4));
        if (weighted) c.weights.push_back(random.Between(0, 2));
      }
      double const expected = c.Evaluate(GetParam(), 2);
      double const found = device.Evaluate(GetParam(), c);
      EXPECT_EQ(Bits(found), Bits(expected)) << rows << " rows: " << found << ", on the host " << expected;
    }
  }
}

TEST(CudaCoxNloglikTest, EqualsTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  MetricParams const params{Metric::kCoxNloglik};
  Device device;
  EXPECT_EQ(Bits(device.Evaluate(params, MetricCase{0, 1, 1})), Bits(MetricCase(0, 1, 1).Evaluate(params, 1)));
  for (std::size_t const rows : {1, 2, 2047, 2048, 2049, 524289, 1500001}) {
    for (std::size_t const times : {std::size_t{1}, std::size_t{100}, std::size_t{100000000}}) {
      CoxRows const cox{rows, 5, times};
      MetricCase c{rows, 1, 1};
      c.labels = cox.labels;
      for (float const margin : cox.margins) c.predictions.push_back(PortableExpf(margin));
      double const expected = c.Evaluate(params, 2), found = device.Evaluate(params, c);
      EXPECT_EQ(Bits(found), Bits(expected))
          << rows << " rows, " << times << " times: " << found << ", on the host " << expected;
      for (float& label : c.labels) label = -1;
      EXPECT_EQ(Bits(device.Evaluate(params, c)), Bits(c.Evaluate(params, 2))) << "no event";
    }
  }
}

MetricParams Aft(AftDistribution distribution) {
  MetricParams params{Metric::kAftNloglik};
  params.aft_distribution = distribution;
  params.aft_scale = 1.3f;
  return params;
}
INSTANTIATE_TEST_SUITE_P(Metrics, CudaSurvivalMetricTest,
                         ::testing::Values(Aft(AftDistribution::kNormal), Aft(AftDistribution::kLogistic),
                                           Aft(AftDistribution::kExtreme), MetricParams{Metric::kIntervalAccuracy}));

INSTANTIATE_TEST_SUITE_P(Metrics, CudaMetricTest,
                         ::testing::Values("rmse", "rmsle", "mae", "mape", "mphe", "logloss", "error@0.3",
                                           "poisson-nloglik", "gamma-nloglik", "gamma-deviance", "tweedie-nloglik@1.3",
                                           "merror", "mlogloss", "auc", "aucpr"),
                         [](auto const& c) {
                           std::string name;
                           for (char const letter : std::string{c.param}) {
                             name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace xgbgpu::testing
