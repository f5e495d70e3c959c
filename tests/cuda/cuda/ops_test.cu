// Every function of the _ops.h files gives the same bits on a CUDA device as on the host, on which the equality of the
// backends rests. It is compiled with --fmad=false, as all device code of the project must be.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/float_bits.h"
#include "core/fixed_point.h"
#include "core/portable_float.h"
#include "core/portable_math.h"
#include "core/random.h"
#include "gradient/gradient_ops.h"
#include "histogram/histogram_ops.h"
#include "matrix/matrix_ops.h"
#include "quantile/quantile_ops.h"
#include "sample/sample_ops.h"
#include "split/constraint_ops.h"
#include "split/split_ops.h"

namespace xgbgpu {
namespace {

void Check(cudaError_t status, char const* what) {
  ASSERT_EQ(status, cudaSuccess) << what << ": " << cudaGetErrorString(status);
}

class CudaOps : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device";
  }
};

template <typename In, typename Out, typename F>
__global__ void MapKernel(In const* in, Out* out, std::size_t n, F f) {
  std::size_t const i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < n) out[i] = f(in[i]);
}

/// Expects f(x) on the device to equal f(x) on the host, byte for byte, for every input.
template <typename In, typename F>
void ExpectSameBits(std::vector<In> const& in, F f) {
  using Out = decltype(f(in[0]));
  In* device_in = nullptr;
  Out* device_out = nullptr;
  Check(cudaMalloc(&device_in, in.size() * sizeof(In)), "cudaMalloc");
  Check(cudaMalloc(&device_out, in.size() * sizeof(Out)), "cudaMalloc");
  Check(cudaMemcpy(device_in, in.data(), in.size() * sizeof(In), cudaMemcpyHostToDevice), "copy of the inputs");
  MapKernel<<<static_cast<unsigned>((in.size() + 255) / 256), 256>>>(device_in, device_out, in.size(), f);
  Check(cudaGetLastError(), "launch");
  std::vector<Out> out(in.size());
  Check(cudaMemcpy(out.data(), device_out, in.size() * sizeof(Out), cudaMemcpyDeviceToHost), "copy of the results");
  Check(cudaFree(device_in), "cudaFree");
  Check(cudaFree(device_out), "cudaFree");
  std::size_t different = 0, first = 0;
  for (std::size_t i = in.size(); i-- > 0;) {
    Out const expected = f(in[i]);
    if (std::memcmp(&expected, &out[i], sizeof(Out)) != 0) {
      ++different;
      first = i;
    }
  }
  EXPECT_EQ(different, 0u) << "first at input " << first;
}

constexpr std::size_t kSamples = 1 << 20;

/// Makes doubles of every size: uniform bits, with denormals, infinities and NaNs, and a dense run around zero.
std::vector<double> Doubles() {
  std::mt19937_64 random{1};
  std::vector<double> values(kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) {
    std::uint64_t const bits = random();
    values[i] = i % 2 == 0 ? detail::FromBits(bits) : (static_cast<double>(bits >> 11) * 0x1p-53 - 0.5) * 1400.0;
  }
  return values;
}

std::vector<float> Floats() {
  std::mt19937 random{2};
  std::vector<float> values(kSamples);
  for (float& v : values) {
    std::uint32_t bits = random();
    if ((bits & 0x7F800000U) == 0x7F800000U) bits &= 0xBFFFFFFFU;  // finite
    std::memcpy(&v, &bits, sizeof(v));
  }
  values[0] = -0.0f;
  values[1] = 0.0f;
  return values;
}

struct Exp {
  XGBGPU_HD double operator()(double x) const { return x != x ? 0.0 : PortableExp(x); }
};
struct Log {
  XGBGPU_HD double operator()(double x) const { return x != x ? 0.0 : PortableLog(x); }
};
/// The bits of a NaN may differ.
XGBGPU_HD double NotNaN(double x) { return x != x ? 0.0 : x; }
struct LogGamma {
  XGBGPU_HD double operator()(double x) const { return NotNaN(PortableLogGamma(x)); }
};
struct Erf {
  XGBGPU_HD double operator()(double x) const { return NotNaN(PortableErf(x)); }
};
TEST_F(CudaOps, ExpLogAndRelatives) {
  ExpectSameBits(Doubles(), Exp{});
  ExpectSameBits(Doubles(), Log{});
  ExpectSameBits(Doubles(), LogGamma{});
  ExpectSameBits(Doubles(), Erf{});
}

struct FloatExp {
  XGBGPU_HD float operator()(float x) const { return PortableExpf(x); }
};
struct FloatLog1p {
  XGBGPU_HD float operator()(float x) const { return x < -1.0f ? 0.0f : PortableLog1pf(x); }
};
TEST_F(CudaOps, FloatExpAndLog1p) {
  std::vector<float> near_zero = Floats();
  for (std::size_t i = 0; i < near_zero.size(); ++i) near_zero[i] = (static_cast<float>(i) - 0x1p19f) * 0x1p-12f;
  for (auto const& values : {Floats(), near_zero}) {
    ExpectSameBits(values, FloatExp{});
    ExpectSameBits(values, FloatLog1p{});
  }
}

struct Draw {
  XGBGPU_HD RandomBlock operator()(std::uint32_t i) const {
    return RandomStream{0x123456789ABCDEFULL, RandomPurpose::kRowSample, i / 3, i / 7 % 1024}.Block(i);
  }
};
TEST_F(CudaOps, Philox) {
  std::vector<std::uint32_t> counters(kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) counters[i] = static_cast<std::uint32_t>(i * 2654435761U);
  ExpectSameBits(counters, Draw{});
}

struct Wide {
  double scale;
  XGBGPU_HD std::int64_t operator()(float v) const { return RoundToNearest(v, scale); }
};
struct Narrow {
  int shift;
  XGBGPU_HD NarrowGradient operator()(float v) const {
    NarrowScales const scales{MakeNarrowScale(shift), MakeNarrowScale(shift)};
    return QuantiseNarrow({v, v * 0.25f}, scales, MagnitudeBits(v) * 2654435761U);
  }
};
struct Exponent {
  XGBGPU_HD int operator()(float v) const { return ExponentAbove(MagnitudeBits(v)); }
};
struct Key {
  XGBGPU_HD float operator()(float v) const { return ValueOfKey(AscendingKey(v)); }
};
struct Coarse {
  XGBGPU_HD std::int32_t operator()(float v) const { return CoarseMagnitude(v, MakeFloatScale(20)); }
};
TEST_F(CudaOps, FixedPointAndKeys) {
  std::mt19937 random{3};
  std::normal_distribution<float> normal{0.0f, 0.2f};
  std::vector<float> gradients(kSamples);
  constexpr float kMost = 0x1.fffffep-1f;  // below 1
  for (float& g : gradients) g = std::fmax(-kMost, std::fmin(kMost, normal(random)));
  ExpectSameBits(gradients, Wide{0x1p45});
  ExpectSameBits(gradients, Narrow{14});
  ExpectSameBits(gradients, Coarse{});
  ExpectSameBits(Floats(), Exponent{});
  ExpectSameBits(Floats(), Key{});
}

struct PackAndUnpack {
  XGBGPU_HD GradientSum operator()(std::uint32_t bits) const {
    NarrowGradient const g{static_cast<std::int16_t>(bits), static_cast<std::int16_t>(bits >> 16)};
    return Unpack(Pack(g) * 65536);
  }
};
TEST_F(CudaOps, PackedSums) {
  std::mt19937 random{4};
  std::vector<std::uint32_t> bits(kSamples);
  for (auto& b : bits) b = (random() % 16384) | ((random() % 16384) << 16);
  ExpectSameBits(bits, PackAndUnpack{});
}

struct Sums {
  GradientSum left, right;
};
struct Gain {
  SplitParams params;
  XGBGPU_HD float operator()(Sums s) const {
    GradientSum const total{s.left.grad + s.right.grad, s.left.hess + s.right.hess};
    return SplitGain(params, s.left, s.right, NodeGain(params, ToLoss(params, total)));
  }
};
struct Weight {
  SplitParams params;
  XGBGPU_HD double operator()(Sums s) const { return NodeWeight(params, ToLoss(params, s.left)); }
};
struct BoundedSplit {
  SplitParams params;
  WeightBounds bounds;
  int direction;
  XGBGPU_HD WeightBounds operator()(Sums s) const {
    GradientSum const total{s.left.grad + s.right.grad, s.left.hess + s.right.hess};
    float const gain = SplitGain<true>(params, s.left, s.right, TermsOf<true>(params, total, bounds), direction);
    WeightBounds const right = BoundsOfChild(params, bounds, direction, s.left, s.right, true);
    return {gain, right.lower + right.upper};
  }
};
TEST_F(CudaOps, GainsAndWeights) {
  std::mt19937_64 random{5};
  std::vector<Sums> sums(kSamples);
  for (Sums& s : sums) {
    int const size = static_cast<int>(random() % 60);
    auto const any = [&] { return static_cast<std::int64_t>(random() >> (63 - size)) - (std::int64_t{1} << size); };
    s = {{any(), any() & 0x7FFFFFFFFFFFFFF}, {any(), any() & 0x7FFFFFFFFFFFFFF}};
  }
  GradientFormat const format{false, 45, 43};
  for (Regularisation const regularisation : {Regularisation::kOf1_7, Regularisation::kOf3_4}) {
    for (float alpha : {0.0f, 0.5f}) {
      for (float step : {0.0f, 0.7f}) {
        TrainParams train;
        train.reg_alpha = alpha;
        train.max_delta_step = step;
        train.regularisation = regularisation;
        SplitParams const params{train, format};
        ExpectSameBits(sums, Gain{params});
        ExpectSameBits(sums, Weight{params});
        for (int direction : {-1, 0, 1}) {
          for (WeightBounds bounds : {WeightBounds{-2.0f, 2.0f}, WeightBounds{-0.03f, 0.4f}}) {
            ExpectSameBits(sums, BoundedSplit{params, bounds, direction});
          }
        }
      }
    }
  }
}

struct Bin {
  float const* ends;  ///< managed memory, which both sides read
  BinIndex n;
  XGBGPU_HD BinIndex operator()(float v) const { return LocalBin(ends, n, v); }
};
TEST_F(CudaOps, BinSearch) {
  constexpr BinIndex kBins = 255;
  float* ends = nullptr;
  Check(cudaMallocManaged(&ends, kBins * sizeof(float)), "cudaMallocManaged");
  for (BinIndex b = 0; b < kBins; ++b) ends[b] = std::sinh((static_cast<float>(b) - 127.0f) * 0.3f);
  ExpectSameBits(Floats(), Bin{ends, kBins});
  Check(cudaFree(ends), "cudaFree");
}

}  // namespace
}  // namespace xgbgpu
