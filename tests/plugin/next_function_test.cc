// Tests what stands in front of a function that XGBoost lacks: a function that fails, never a null call.
#include "xgb/next_function.h"

#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <string>

extern "C" {

int XGNoSuchFunction(int number, char const* text);
bool XGNoSuchQuestion();

}  // extern "C"

namespace xgbgpu::plugin {
namespace {

TEST(NextFunction, ThatXGBoostLacksFailsAndIsNamed) {
  auto* const next = XGBGPU_NEXT(XGNoSuchFunction);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next(1, "a"), -1);
  EXPECT_NE(std::string{XGBGetLastError()}.find("This XGBoost has no function XGNoSuchFunction"), std::string::npos);
  EXPECT_FALSE(XGBGPU_NEXT(XGNoSuchQuestion)());
}

TEST(NextFunction, ThatXGBoostHasIsItsOwn) {
  auto* const next = XGBGPU_NEXT(XGDMatrixNumRow);
  EXPECT_EQ(next, &XGDMatrixNumRow);
}

}  // namespace
}  // namespace xgbgpu::plugin
