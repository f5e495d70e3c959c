// Sets XGBoost's last error, which no function of XGBoost sets alone.
#include "xgb/last_error.h"

#include <dmlc/logging.h>
#include <xgboost/c_api.h>

#include "xgb/series.h"

namespace xgbgpu::plugin {

namespace {

/// XGBoost reports what a callback throws.
extern "C" int ThrowText(DataIterHandle text, XGBCallbackSetData*, DataHolderHandle) {
  throw dmlc::Error{*static_cast<std::string const*>(text)};
}

}  // namespace

void Fail(std::string text) {
  DMatrixHandle none = nullptr;
  XGDMatrixCreateFromDataIter(&text, ThrowText, nullptr, XGBGPU_SINCE_300(0.0F, ) & none);
}

}  // namespace xgbgpu::plugin
