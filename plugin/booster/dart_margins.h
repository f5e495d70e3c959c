/// Margins of a dart. docs/adr/0015-dart-rounds.md
#ifndef XGBGPU_PLUGIN_BOOSTER_DART_MARGINS_H_
#define XGBGPU_PLUGIN_BOOSTER_DART_MARGINS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "booster/margins.h"
#include "booster/stock_dart.h"
#include "xgbgpu/dart.h"

namespace xgbgpu::plugin {

/// Recomputes margins in every round, as weighted sums of kept leaf columns.
class DartMargins final : public Margins {
 public:
  DartMargins(std::weak_ptr<Booster*> by, MarginParts const& parts)
      : Margins{std::move(by), parts}, stock_dart_{parts.learner->stock()}, weights_{&stock_dart_} {}

  bool ReadyOnDevice(Training* training, LastPrediction const& last) override;
  void BeginRound(Training* training, xgboost::DMatrix* data, XgbCache const& cache, bool host_sets_leaves,
                  RoundOrder* order) override;
  void EndRound(Training* training) override;
  std::vector<Fact> SharedFacts() const override;
  void ForgetTrees() override;

 private:
  void PredictNow(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) override;
  KeptRows const* RowsOf(LastPrediction const& last) override { return last.kept; }

  bool MayHaveColumns() const;
  bool Serve(xgboost::DMatrix* data, XgbCache* out, bool training);
  KeptRows* FindRows(xgboost::DMatrix* data, XgbCache const& out);
  bool CompleteTraining(Training* training, xgboost::DMatrix* data, XgbCache const& cache);
  DartShape Shape() { return {learner().rounds(), weights_.trees(), learner().outputs()}; }
  RecordColumns MakeRecorder(xgboost::DMatrix* data, XgbCache const& out, DartShape const& model, KeptRows const& kept);

  StockDart stock_dart_;
  DartWeights weights_;
  std::optional<std::uint32_t> rounds_with_columns_;  ///< of the round in progress, which has room for its own
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_DART_MARGINS_H_
