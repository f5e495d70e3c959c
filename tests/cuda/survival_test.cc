// Gradients of survival:aft on a device equal the host's, bit for bit.
#include <gtest/gtest.h>

#include <cstring>

#include "objective/objective_cuda.h"
#include "support/grow.h"
#include "support/survival_case.h"

namespace xgbgpu::testing {
namespace {

TEST(CudaAftTest, EqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceArena arena{"This test"};
  Stream const stream;
  DeviceLimits const limits = CurrentDeviceLimits();
  for (std::size_t const n : {std::size_t{1}, std::size_t{1025}, std::size_t{1500001}}) {
    for (float const spread : {2.0f, 40.0f, 800.0f}) {
      SurvivalRows const rows{n, spread};
      auto const margins = Upload(&arena, "margins", rows.margins.data(), n);
      auto const weights = Upload(&arena, "weights", rows.weights.data(), n);
      auto const lower = Upload(&arena, "bounds", rows.lower.data(), n);
      auto const upper = Upload(&arena, "bounds", rows.upper.data(), n);
      DeviceBuffer<GradientPair> const out{&arena, "gradients", n};
      for (AftDistribution const distribution : kAftDistributions) {
        ObjectiveParams const params = AftParams(distribution, 1.3f);
        for (bool const weighted : {false, true}) {
          std::vector<GradientPair> expected(n), found(n);
          host::ComputeGradients(params, rows.Targets(weighted), RowMajor<float const>(rows.margins.data(), n, 1),
                                 RowMajor(expected.data(), n, 1), 2);
          TargetView targets;
          targets.weights = weighted ? weights.data() : nullptr;
          targets.lower = lower.data();
          targets.upper = upper.data();
          cuda::ComputeGradients(params, targets, OutputMajor<float const>(margins.data(), n, 1),
                                 OutputMajor(out.data(), n, 1), limits, stream);
          CopyToHost(found.data(), out.data(), n, stream, "copying gradients");
          stream.Wait("computing gradients");
          for (std::size_t i = 0; i < n; ++i) {
            ASSERT_EQ(std::memcmp(&found[i], &expected[i], sizeof(found[i])), 0)
                << "row " << i << ", margin " << rows.margins[i] << " of " << rows.lower[i] << " to " << rows.upper[i]
                << ": (" << found[i].grad << ", " << found[i].hess << "), on the host (" << expected[i].grad << ", "
                << expected[i].hess << ")";
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace xgbgpu::testing
