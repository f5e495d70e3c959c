// Gradients that are quantised before their format is known are used if the format is the foreseen one, else not. Trees
// are the same either way, so that only a look at the kernels' output tells.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "objective/quantise_losses_cuda.h"
#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/objective.h"

namespace xgbgpu {
namespace testing {
namespace {

constexpr int kThreads = 2;
constexpr std::size_t kRows = 70001;  // not a multiple of four

class EarlyGradientsTest : public ::testing::TestWithParam<bool> {
 protected:
  EarlyGradientsTest() {
    Random random{3};
    for (std::size_t row = 0; row < kRows; ++row) {
      margins_.push_back(random.Between(-3, 3));
      labels_.push_back(row % 3 == 0 ? 1.0f : 0.0f);
      if (GetParam()) weights_.push_back(random.Between(0.1f, 2.0f));
    }
  }
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  std::vector<GradientPair> Gradients() const {
    TargetView targets{};
    targets.labels = labels_.data();
    targets.weights = weights_.empty() ? nullptr : weights_.data();
    std::vector<GradientPair> gradients(kRows);
    host::ComputeGradients(kObjective, targets, RowMajor<float const>(margins_.data(), kRows, 1),
                           RowMajor(gradients.data(), kRows, 1), kThreads);
    return gradients;
  }
  GradientMaxima Maxima() const { return host::LargestGradients(Gradients(), kThreads); }

  /// Checks what the kernels make of the gradients after a tree with these maxima.
  void ExpectAfter(GradientMaxima const& before, bool foreseen) {
    auto const expected = Gradients();
    GradientFormat const format = host::ChooseGradientFormat(expected, expected.size(), min_child_weight_, kThreads);
    std::vector<NarrowGradient> narrow(kRows), out(kRows);
    if (format.narrow) {
      host::QuantiseGradients(expected, format, {5, RandomPurpose::kRounding, 9, 0}, narrow, {}, kThreads);
    }

    DeviceArena arena{"The test"};
    Stream const stream;
    auto const margins = Upload(&arena, "margins", margins_.data(), kRows);
    auto const labels = Upload(&arena, "labels", labels_.data(), kRows);
    DeviceBuffer<float> weights;
    if (!weights_.empty()) weights = Upload(&arena, "weights", weights_.data(), kRows);
    DeviceBuffer<GradientPair> const room{&arena, "gradients", kRows};
    DeviceBuffer<NarrowGradient> const narrow_room{&arena, "gradients", kRows + 3};
    DeviceBuffer<std::uint8_t> const paths{&arena, "paths", kRows + 3};
    FillBytes(room.data(), 0xFF, kRows, stream, "filling");
    FillBytes(narrow_room.data(), 0xFF, kRows + 3, stream, "filling");
    FillBytes(paths.data(), 0xFF, kRows + 3, stream, "filling");
    cuda::GradientState state{};
    auto const device_state = Upload(&arena, "state", &state, 1);
    auto const device_before = Upload(&arena, "state", &before, 1);
    cuda::TreeDraw const draw{5, 9, 0, margins.data(), min_child_weight_};
    auto const device_draw = Upload(&arena, "state", &draw, 1);

    cuda::QuantiseLosses(cuda::DeviceShard::Whole(kRows), device_draw.data(), paths.data(),
                         {kObjective, margins.data(), labels.data(), weights.data(), room.data()},
                         {narrow_room.data(), device_before.data()}, device_state.data(), CurrentDeviceLimits(),
                         stream);

    std::vector<GradientPair> pairs(kRows);
    std::vector<std::uint8_t> cleared(kRows);
    CopyToHost(&state, device_state.data(), 1, stream, "reading");
    CopyToHost(pairs.data(), room.data(), kRows, stream, "reading");
    CopyToHost(out.data(), narrow_room.data(), kRows, stream, "reading");
    CopyToHost(cleared.data(), paths.data(), kRows, stream, "reading");
    stream.Wait("reading");
    EXPECT_EQ(cleared, std::vector<std::uint8_t>(kRows));
    GradientMaxima const maxima = Maxima();
    EXPECT_EQ(state.maxima.grad, maxima.grad);
    EXPECT_EQ(state.maxima.hess, maxima.hess);
    EXPECT_EQ(state.format.narrow, format.narrow);
    EXPECT_EQ(state.format.grad_shift, format.grad_shift);
    EXPECT_EQ(state.format.hess_shift, format.hess_shift);
    ASSERT_EQ(state.foreseen, foreseen);
    if (!foreseen) {
      EXPECT_EQ(std::memcmp(pairs.data(), expected.data(), kRows * sizeof(GradientPair)), 0);
      return;
    }
    EXPECT_TRUE(std::isnan(pairs[0].grad)) << "nobody needs them";
    EXPECT_EQ(std::memcmp(out.data(), narrow.data(), kRows * sizeof(NarrowGradient)), 0);
    GradientSum sum;
    for (NarrowGradient const& q : narrow) {
      sum.grad += q.grad;
      sum.hess += q.hess;
    }
    EXPECT_EQ(state.early.narrow, sum);
  }

  inline static ObjectiveParams const kObjective{Objective::kLogistic};
  std::vector<float> margins_, labels_, weights_;
  float min_child_weight_{1.0f};
};

TEST_P(EarlyGradientsTest, AreUsedIfMaximaHaveTheExponentsOfThoseBefore) {
  constexpr std::uint32_t kHalf = 0x00400000U, kExponent = 0x00800000U;  // half a significand; one exponent
  GradientMaxima const same = Maxima();
  ExpectAfter(same, true);
  ExpectAfter({same.grad ^ kHalf, same.hess ^ kHalf}, true);
  ExpectAfter({same.grad + kExponent, same.hess}, false);
  ExpectAfter({same.grad, same.hess - kExponent}, false);
  ExpectAfter({same.grad - 90 * kExponent, same.hess + 90 * kExponent}, false);
}

TEST_P(EarlyGradientsTest, AreNotMadeAfterNoTreeOrOneOfTheWideFormat) {
  ExpectAfter({0, 0}, false);
  ExpectAfter({Maxima().grad, 0}, false);
}

TEST_P(EarlyGradientsTest, AreNotUsedWhereOneTowers) {
  weights_.assign(kRows, 1.0f);
  weights_[77] = 1e4f;
  margins_[77] = 1.0f;
  ExpectAfter(Maxima(), false);
}

TEST_P(EarlyGradientsTest, AreNotUsedWhereAHessianVanishesAndMakesASide) {
  margins_[kRows - 1] = 20.0f;  // beside the label 0: a gradient of 1, a hessian of 2e-9
  labels_[kRows - 1] = 0.0f;
  ExpectAfter(Maxima(), true);
  min_child_weight_ = 0.0f;
  ExpectAfter(Maxima(), false);
}

INSTANTIATE_TEST_SUITE_P(Weights, EarlyGradientsTest, ::testing::Bool(),
                         [](auto const& c) { return c.param ? "Some" : "None"; });

}  // namespace
}  // namespace testing
}  // namespace xgbgpu
