// Gradients and predictions of a device equal the host's, bit for bit.
#include "xgbgpu/objective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gradient/gradient_ops.h"
#include "objective/objective_cuda.h"
#include "support/grow.h"
#include "support/objective_case.h"

namespace xgbgpu::testing {
namespace {

bool SameFloat(float a, float b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0 || (std::isnan(a) && std::isnan(b));  // the bits of a NaN may differ
}

/// How a view lies in device memory.
struct Layout {
  char const* name;
  bool by_output;
  std::size_t first;  ///< elements before it; 1 moves it off the multiples of 16 bytes
  std::size_t gap;    ///< elements between neighbours
};
constexpr Layout kLayouts[] = {
    {"by output", true, 0, 0}, {"row-major", false, 0, 0}, {"not aligned", true, 1, 0}, {"with gaps", true, 0, 2}};

std::size_t Elements(Layout const& layout, std::uint64_t rows, std::uint32_t outputs) {
  return layout.first + rows * outputs * (layout.gap + 1);
}
template <typename T>
OutputView<T> ViewOf(Layout const& layout, T* data, std::uint64_t rows, std::uint32_t outputs) {
  std::size_t const step = layout.gap + 1;
  if (layout.by_output) return {data + layout.first, rows, outputs, step, step * static_cast<std::size_t>(rows)};
  return {data + layout.first, rows, outputs, step * outputs, step};
}

/// All data of one case on the device, in a layout. Labels and weights are moved by `first`, too.
class DeviceCase {
 public:
  DeviceCase(ObjectiveRows const& rows, Layout const& layout) : rows_{rows}, layout_{layout} {
    std::vector<float> margins(Elements(layout, rows.rows, rows.outputs));
    auto const view = ViewOf(layout, margins.data(), rows.rows, rows.outputs);
    for (std::uint64_t row = 0; row < rows.rows; ++row)
      for (std::uint32_t k = 0; k < rows.outputs; ++k) view.at(row, k) = rows.Margins().at(row, k);
    margins_ = Upload(&arena_, "margins", margins.data(), margins.size());
    labels_ = Moved(rows.labels);
    weights_ = Moved(rows.weights);
  }

  std::vector<GradientPair> Gradients(ObjectiveParams const& params, bool weighted) {
    DeviceBuffer<GradientPair> out{&arena_, "gradients", margins_.size()};
    FillBytes(out.data(), 0xFF, out.size(), stream_, "filling");
    TargetView targets = rows_.Targets(weighted);
    targets.labels = labels_.data() + layout_.first;
    targets.weights = weighted ? weights_.data() + layout_.first : nullptr;
    GradientMaxima const* const maxima = cuda::ComputeGradients(
        params, targets, ViewOf<float const>(layout_, margins_.data(), rows_.rows, rows_.outputs),
        ViewOf(layout_, out.data(), rows_.rows, rows_.outputs), limits_, stream_, &scratch_);
    auto const gradients = Gathered(out);
    ExpectMaxima(params.kind, maxima, gradients);
    return gradients;
  }

  /// Transforms margins into other memory, or in place.
  std::vector<float> Transformed(ObjectiveParams const& params, bool in_place) {
    DeviceBuffer<float> other{&arena_, "predictions", in_place ? 0 : margins_.size()};
    DeviceBuffer<float>& out = in_place ? margins_ : other;
    cuda::Transform(params, ViewOf<float const>(layout_, margins_.data(), rows_.rows, rows_.outputs),
                    ViewOf(layout_, out.data(), rows_.rows, rows_.outputs), limits_, stream_);
    return Gathered(out);
  }

 private:
  /// Expects the largest magnitudes, which the kernel that computes gradients finds. It begins anew every time.
  void ExpectMaxima(Objective kind, GradientMaxima const* on_device, std::vector<GradientPair> const& gradients) {
    bool const one_run = rows_.outputs == 1 && layout_.first == 0 && layout_.gap == 0 && kind != Objective::kSoftmax;
    if (!one_run) {
      EXPECT_EQ(on_device, nullptr) << layout_.name;
      return;
    }
    ASSERT_NE(on_device, nullptr);
    GradientMaxima found{}, expected{};
    CopyToHost(&found, on_device, 1, stream_, "reading maxima");
    stream_.Wait("reading maxima");
    for (GradientPair const& v : gradients) {
      expected = {std::max(expected.grad, MagnitudeBits(v.grad)), std::max(expected.hess, MagnitudeBits(v.hess))};
    }
    EXPECT_EQ(found.grad, expected.grad);
    EXPECT_EQ(found.hess, expected.hess);
  }
  DeviceBuffer<float> Moved(std::vector<float> values) {
    values.insert(values.begin(), layout_.first, 0.0f);
    return Upload(&arena_, "targets", values.data(), values.size());
  }
  /// Copies to the host, row-major.
  template <typename T>
  std::vector<T> Gathered(DeviceBuffer<T> const& device) {
    std::vector<T> all(device.size()), values;
    CopyToHost(all.data(), device.data(), all.size(), stream_, "copying results");
    stream_.Wait("computing an objective");
    auto const view = ViewOf(layout_, all.data(), rows_.rows, rows_.outputs);
    for (std::uint64_t row = 0; row < rows_.rows; ++row)
      for (std::uint32_t k = 0; k < rows_.outputs; ++k) values.push_back(view.at(row, k));
    return values;
  }

  ObjectiveRows const& rows_;
  Layout layout_;
  DeviceArena arena_{"This test"};
  Stream stream_;
  DeviceLimits limits_{CurrentDeviceLimits()};
  DeviceBuffer<float> margins_, labels_, weights_;
  cuda::ObjectiveScratch scratch_{&arena_};
};

void ExpectSame(ObjectiveRows const& rows, ObjectiveParams const& params) {
  for (Layout const& layout : kLayouts) {
    DeviceCase device{rows, layout};
    for (bool const weighted : {true, false}) {  // smaller ones come last, because maxima begin anew
      std::vector<GradientPair> expected(rows.margins.size());
      host::ComputeGradients(params, rows.Targets(weighted), rows.Margins(),
                             RowMajor(expected.data(), rows.rows, rows.outputs), 2);
      auto const found = device.Gradients(params, weighted);
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_TRUE(SameFloat(found[i].grad, expected[i].grad) && SameFloat(found[i].hess, expected[i].hess))
            << layout.name << ", " << rows.rows << " rows of " << rows.outputs << (weighted ? ", weights" : "")
            << ": gradient " << i << " is (" << found[i].grad << ", " << found[i].hess << "), on the host ("
            << expected[i].grad << ", " << expected[i].hess << "), margin " << rows.margins[i];
      }
    }
    std::vector<float> expected(rows.margins.size());
    host::Transform(params, rows.Margins(), RowMajor(expected.data(), rows.rows, rows.outputs), 2);
    for (bool const in_place : {false, true}) {  // in place comes last, since it overwrites margins
      auto const found = device.Transformed(params, in_place);
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_TRUE(SameFloat(found[i], expected[i]))
            << layout.name << ", " << rows.rows << " rows of " << rows.outputs << (in_place ? ", in place" : "")
            << ": prediction " << i << " is " << found[i] << ", on the host " << expected[i] << ", margin "
            << rows.margins[i];
      }
    }
  }
}

/// Numbers below, at and above what threads and blocks take at once. The last needs more than one turn of a large
/// device.
constexpr std::uint64_t kRowCounts[] = {1, 3, 4, 5, 1023, 1025, 100003, 1500001};

class CudaObjectiveTest : public ::testing::TestWithParam<ObjectiveCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(CudaObjectiveTest, EqualTheHosts) {
  ObjectiveCase const& c = GetParam();
  for (std::uint64_t const row_count : kRowCounts) {
    ObjectiveRows rows{c.kind, row_count, 1, c.low, c.high};
    ExpectSame(rows, ParamsOf(c.kind));
    rows.MakeExtreme();
    ExpectSame(rows, ParamsOf(c.kind));
  }
}

TEST_P(CudaObjectiveTest, SeveralTargets) {
  ObjectiveCase const& c = GetParam();
  if (!c.several) GTEST_SKIP() << "an objective of one target";
  for (std::uint32_t const outputs : {2, 3, 7}) {
    ObjectiveRows rows{c.kind, 10007, outputs, c.low, c.high};
    ExpectSame(rows, ParamsOf(c.kind));
    rows.MakeExtreme();
    ExpectSame(rows, ParamsOf(c.kind));
  }
  // There are more outputs than a grid has blocks in y.
  ExpectSame(ObjectiveRows{c.kind, 3, 70001, c.low, c.high}, ParamsOf(c.kind));
}

INSTANTIATE_TEST_SUITE_P(All, CudaObjectiveTest, ::testing::ValuesIn(ObjectiveCases()), ObjectiveCaseName{});

TEST(CudaAlphasTest, EqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  for (Objective const kind : {Objective::kQuantile, Objective::kExpectile, Objective::kSmoothQuantile}) {
    for (std::uint64_t const row_count : {1, 5, 1025, 100003}) {
      ObjectiveRows rows{kind, row_count, 3, -100, 100};
      ObjectiveParams params{kind};
      params.alphas = {0.1f, 0.5f, 0.95f};
      ExpectSame(rows, params);
      rows.MakeExtreme();
      ExpectSame(rows, params);
    }
  }
}

TEST(CudaExpectilesTest, EqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  for (std::uint32_t const outputs : {2, 7, 33}) {
    for (std::uint64_t const row_count : {1, 5, 1025, 30001}) {
      ObjectiveRows rows{Objective::kExpectile, row_count, outputs, -30, 30};
      ObjectiveParams params{Objective::kExpectile};
      for (std::uint32_t k = 0; k < outputs; ++k) params.alphas.push_back(0.05f + 0.9f * k / outputs);
      ExpectSame(rows, params);
      rows.MakeExtreme();
      ExpectSame(rows, params);
    }
  }
}

TEST(CudaSoftmaxTest, EqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  ObjectiveParams const params = ParamsOf(Objective::kSoftmax);
  for (std::uint32_t const classes : {1, 2, 3, 10, 33, 3000}) {
    for (std::uint64_t const row_count : {1, 5, 1025, 30001}) {
      if (row_count * classes > 4000000) continue;
      ObjectiveRows rows{Objective::kSoftmax, row_count, classes, -30, 30};
      ExpectSame(rows, params);
      rows.MakeExtreme();
      ExpectSame(rows, params);
    }
  }
}

}  // namespace
}  // namespace xgbgpu::testing
