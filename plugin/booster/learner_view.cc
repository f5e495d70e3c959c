// Reads facts of the model out of XGBoost's learner and stock booster.
#include "booster/learner_view.h"

#include <functional>
#include <string>

#include "matrix/adapt_input.h"
#include "models/model_forest.h"

namespace xgbgpu::plugin {

BaseMargins LearnerView::BaseMarginsFor(xgboost::MetaInfo const& info) const { return BaseMarginsOf(info, *model_); }

std::int64_t LearnerView::TreesPerOutput() const {
  xgboost::Json config{xgboost::Object{}};
  stock_->SaveConfig(&config);
  xgboost::Json const& model = GBTreeSection(&config)["gbtree_model_param"];
  return std::stoll(xgboost::get<xgboost::String const>(model["num_parallel_tree"]));
}

ModelView LearnerView::Model() const {
  return {rounds(), outputs(), features(), base_scores(),
          [stock = stock_](std::function<void(ModelTree const&)> const& visit) { VisitTrees(*stock, visit); }};
}

}  // namespace xgbgpu::plugin
