// Samples the features of a level's nodes on a device.
#include <cub/block/block_scan.cuh>

#include "core/random.h"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "sample/feature_ops.h"
#include "sample/feature_sets_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;

// The search for a set's last feature goes digit by digit, from the first of its key to the last of its number.
constexpr int kDigitBits = 8, kDigits = 12, kKeyDigits = 8;
static_assert(1 << kDigitBits == kThreads);  // a thread for each value of a digit

using DigitScan = cub::BlockScan<std::uint32_t, kThreads>;

/// State that the threads of a set share.
struct ChoiceShared {
  typename DigitScan::TempStorage scan;
  std::uint32_t counts[kThreads];  ///< number of features by the value of a digit
  std::uint32_t digit;             ///< digit of the set's last feature
  std::uint32_t same;              ///< number of features with this digit, …
  std::uint32_t wanted;            ///< … and how many of them are in the set
};

/// One set and the set that it is chosen from.
struct Choice {
  RandomStream stream;
  float const* weights;       ///< [features], or nullptr
  FeatureIndex features;      ///< number of features of the matrix
  std::uint32_t const* from;  ///< bit set, or nullptr: all
  std::uint32_t count;        ///< number of features to choose, at least 1 and not more than `from` has

  __device__ std::uint64_t Key(FeatureIndex f) const {
    std::uint32_t const draw = stream.Word(f);
    return weights == nullptr ? FeatureKey(draw) : FeatureKey(draw, weights[f]);
  }
};

/// The place of a feature in the order of a choice, as one number of kDigits digits.
struct Place {
  std::uint64_t key;
  std::uint32_t feature;

  static __device__ int Shift(int digit) { return (digit < kKeyDigits ? 7 - digit : kDigits - 1 - digit) * kDigitBits; }
  __device__ std::uint32_t Digit(int digit) const {
    constexpr std::uint32_t kMask = kThreads - 1;
    if (digit < kKeyDigits) return static_cast<std::uint32_t>(key >> Shift(digit)) & kMask;
    return (feature >> Shift(digit)) & kMask;
  }
  __device__ void SetDigit(int digit, std::uint32_t value) {
    std::uint64_t const mask = std::uint64_t{kThreads - 1} << Shift(digit), bits = std::uint64_t{value} << Shift(digit);
    if (digit < kKeyDigits) {
      key = (key & ~mask) | bits;
    } else {
      feature = static_cast<std::uint32_t>((feature & ~mask) | bits);
    }
  }
  /// Returns true if the first `digits` digits are equal.
  __device__ bool Agrees(Place const& other, int digits) const {
    if (digits == 0) return true;
    if (digits <= kKeyDigits) return ((key ^ other.key) >> Shift(digits - 1)) == 0;
    return key == other.key && ((feature ^ other.feature) >> Shift(digits - 1)) == 0;
  }
  __device__ bool IsBehind(Place const& other) const {
    return key != other.key ? key > other.key : feature > other.feature;
  }
};

/// Returns a place at or behind all features of the set and before all other features. The whole block calls it.
/// Cost  seldom more than three passes over the features: it ends when the digits so far separate them
__device__ Place LastPlace(Choice const& choice, ChoiceShared* shared) {
  Place last{~std::uint64_t{0}, ~0U};
  std::uint32_t wanted = choice.count;
  for (int digit = 0; digit < kDigits; ++digit) {
    shared->counts[threadIdx.x] = 0;
    __syncthreads();
    for (FeatureIndex f = threadIdx.x; f < choice.features; f += kThreads) {
      if (!IsIn(choice.from, f)) continue;
      Place const place{choice.Key(f), f};
      if (place.Agrees(last, digit)) atomicAdd(&shared->counts[place.Digit(digit)], 1U);
    }
    __syncthreads();
    std::uint32_t const same = shared->counts[threadIdx.x];
    std::uint32_t before;
    DigitScan(shared->scan).ExclusiveSum(same, before);
    if (before < wanted && wanted <= before + same) {  // in one thread
      shared->digit = threadIdx.x;
      shared->same = same;
      shared->wanted = wanted - before;
    }
    __syncthreads();
    last.SetDigit(digit, shared->digit);
    wanted = shared->wanted;
    if (shared->same == wanted) break;  // all features with this digit are in the set
  }
  return last;
}

/// Writes the chosen features to the bit set `to`, which may be `from`. The whole block calls it.
__device__ void Choose(Choice const& choice, std::uint32_t* to, ChoiceShared* shared) {
  Place const last = LastPlace(choice, shared);
  for (FeatureIndex first = 0; first < choice.features; first += kThreads) {
    FeatureIndex const f = first + threadIdx.x;
    bool const in = f < choice.features && IsIn(choice.from, f) && !Place{choice.Key(f), f}.IsBehind(last);
    std::uint32_t const word = __ballot_sync(kAllLanes, in);
    if (threadIdx.x % 32 == 0 && f < choice.features) to[f / 32] = word;
  }
  __syncthreads();
}

/// Chooses features. A block takes a child of the level, or the root.
__global__ void __launch_bounds__(kThreads) ChooseFeaturesKernel(FeatureChoice level) {
  __shared__ ChoiceShared shared;
  WaitForKernelBefore();
  GrowingTree const& tree = level.tree;
  FeatureSetsView const& sets = level.sets;
  std::uint32_t const children = tree.families[0].sibling_slot < 0 ? 1 : 2;
  for (std::uint32_t child = blockIdx.x; child < tree.state->families * children; child += gridDim.x) {
    std::uint32_t const family = child / children, right = child % children;
    NodeIndex const n = tree.families[family].left + static_cast<NodeIndex>(right);
    std::uint32_t* const set = sets.of_nodes + std::uint64_t{2 * family + right} * sets.words;
    Choice choice{{level.draw->seed, RandomPurpose::kFeaturesOfLevel, level.draw->tree,
                   static_cast<std::uint32_t>(tree.nodes[n].depth)},
                  sets.weights,
                  level.features,
                  sets.of_tree,
                  level.counts->level};
    if (choice.count != 0) {
      Choose(choice, set, &shared);
      choice.from = set;
    }
    choice.stream.purpose = RandomPurpose::kFeaturesOfNode;
    choice.stream.place = static_cast<std::uint32_t>(n);
    choice.count = level.counts->node;
    if (choice.count != 0) Choose(choice, set, &shared);
  }
}

}  // namespace

void ChooseFeatures(FeatureChoice const& level, LevelBounds const& bounds, DeviceLimits const& limits,
                    cudaStream_t stream) {
  LaunchNext("choosing features", ChooseFeaturesKernel, Blocks(2 * bounds.families, 1, limits, kResident), kThreads, 0,
             limits, stream, level);
}

}  // namespace xgbgpu::cuda
