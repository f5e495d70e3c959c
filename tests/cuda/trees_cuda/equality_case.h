/// Generated cases of parameters × data shapes on which the backends must agree.
#ifndef XGBGPU_TESTS_CUDA_EQUALITY_CASE_H_
#define XGBGPU_TESTS_CUDA_EQUALITY_CASE_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "matrix/matrix.h"
#include "xgbgpu/params.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/types.h"

namespace xgbgpu::testing {

/// Losses whose gradients differ in magnitudes and signs.
enum class Loss {
  kLogistic,
  kOneHuge,           ///< squared error, one target 10^6 times the typical one
  kHeavyTail,         ///< squared error, targets over nine decades
  kConstant,          ///< every row the same gradient
  kManyZeros,         ///< logistic, nine rows of ten without gradient
  kNegativeHessians,  ///< as custom objectives can give
  kAllZero,
  kTiny,          ///< logistic times 2^-40
  kVanishing,     ///< logistic, one row of fifty with a hessian that is as good as 0
  kWeightedTail,  ///< kHeavyTail with weights
};

enum class Values {
  kContinuous,
  kFew,     ///< five values a column
  kSkewed,  ///< most values small, a long tail, in steps of 0.01
};

struct EqualityCase {
  int number;
  RowIndex rows;
  FeatureIndex columns;
  double density;  ///< share of values that are not missing
  Values values;
  int max_bin;
  Loss loss;
  TrainParams params;
  std::size_t stride;    ///< from one row's margin to the next
  std::string variants;  ///< sampling and regularisation, as the name shows them

  std::uint64_t seed() const { return 1000 + static_cast<std::uint64_t>(number); }
};

/// Returns a name for test filters, like "Case012_r1000_c28_d90_b256_LossGuide_depth0_leaves31_…".
std::string NameOf(EqualityCase const& c);
void PrintTo(EqualityCase const& c, std::ostream* os);

/// Makes a fixed pseudo-random design. Every level of every dimension is there equally often, in random company. Some
/// corners are added by hand.
std::vector<EqualityCase> EqualityCases();

/// Set monotone constraints on some columns, and interaction sets of three neighbours, which share one with the next.
void SetDirections(TrainParams* params, FeatureIndex columns);
void SetInteractions(TrainParams* params, FeatureIndex columns);

/// Rows in CSR form. Of 13 columns and more, some hold one value only and some none.
class CaseRows final : public RowSource {
 public:
  explicit CaseRows(EqualityCase const& c);
  std::uint64_t rows() const override { return offsets_.size() - 1; }
  FeatureIndex features() const override { return columns_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    visit({0, offsets_, entries_});
  }
  /// Makes categories of the values of the first features: levels[f] of them, or none where it is 0.
  void MakeCategories(std::vector<std::uint32_t> const& levels);
  Span<std::uint8_t const> categorical() const override { return categorical_; }
  /// A number for each row that the first columns determine.
  std::vector<float> const& signal() const { return signal_; }

 private:
  FeatureIndex columns_;
  std::vector<std::uint64_t> offsets_{0};
  std::vector<Entry> entries_;
  std::vector<std::uint8_t> categorical_;
  std::vector<float> signal_;
};

/// Quantises rows on the host.
std::unique_ptr<QuantisedMatrix> HostMatrix(RowSource const& rows, int max_bin, int threads);

/// Gradients of the loss at these margins ([rows · stride]).
class CaseLoss {
 public:
  CaseLoss(EqualityCase const& c, CaseRows const& rows);
  std::vector<GradientPair> Gradients(std::vector<float> const& margins) const;

 private:
  Loss loss_;
  std::size_t stride_;
  std::vector<float> target_;
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_CUDA_EQUALITY_CASE_H_
