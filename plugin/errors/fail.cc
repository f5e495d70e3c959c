#include "errors/fail.h"

#include <xgboost/c_api.h>

#include <utility>

namespace xgbgpu::plugin {

namespace {

/// XGBoost reports what a callback throws.
extern "C" int ThrowText(DataIterHandle text, XGBCallbackSetData*, DataHolderHandle) {
  throw dmlc::Error{*static_cast<std::string const*>(text)};
}

}  // namespace

void Fail(std::string text) {
  DMatrixHandle none = nullptr;
  XGDMatrixCreateFromDataIter(&text, ThrowText, nullptr, &none);
}

}  // namespace xgbgpu::plugin
