/// Names of categories where XGBoost keeps them: in matrices and in models, from 3.1 on.
#ifndef XGBGPU_PLUGIN_XGB_CATEGORIES_H_
#define XGBGPU_PLUGIN_XGB_CATEGORIES_H_

#include <dmlc/logging.h>
#include <xgboost/c_api.h>
#include <xgboost/data.h>
#include <xgboost/gbm.h>

#include <functional>
#include <memory>

#include "xgb/types.h"
#include "xgbgpu/types.h"

namespace xgbgpu::plugin {

/// Calls read(text) with the names of the categories of a matrix, if it keeps any. The text is a JSON list with an
/// entry for each column: null, the array interface of numbers, or two interfaces of texts, `offsets` and `values`. The
/// arrays live during the call only.
inline void ExportCategories(xgboost::DMatrix const& XGBGPU_SINCE_302(data),
                             std::function<void(char const*)> const& XGBGPU_SINCE_302(read)) {
  XGBGPU_SINCE_302(
      std::shared_ptr<xgboost::DMatrix> matrix{std::shared_ptr<void>{}, const_cast<xgboost::DMatrix*>(&data)};
      CategoriesHandle made = nullptr; char const* text = nullptr;
      if (XGDMatrixGetCategoriesExportToArrow(&matrix, nullptr, &made, &text) != 0) {
        throw dmlc::Error{XGBGetLastError()};
      } if (made == nullptr) return;
      std::unique_ptr<void, int (*)(CategoriesHandle)> const copy{made, XGBCategoriesFree}; read(text);)
}

/// Lends the names of a model with this number of columns to a matrix that has none, for the life of this object.
class LendCategories {
 public:
  LendCategories(xgboost::GradientBooster const& XGBGPU_SINCE_302(from), FeatureIndex columns, xgboost::DMatrix* to)
      : to_{to} {
    to_->Info().num_col_ = columns;
    XGBGPU_SINCE_302(own_ = std::const_pointer_cast<xgboost::CatContainer>(to_->CatsShared());
                     auto* const lent = const_cast<xgboost::CatContainer*>(from.Cats());
                     to_->Info().Cats({std::shared_ptr<void>{}, lent});)
  }
  ~LendCategories() { XGBGPU_SINCE_302(to_->Info().Cats(own_);) }
  LendCategories(LendCategories const&) = delete;
  LendCategories& operator=(LendCategories const&) = delete;

 private:
  xgboost::DMatrix* to_;
  XGBGPU_SINCE_302(std::shared_ptr<xgboost::CatContainer> own_;)
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_CATEGORIES_H_
