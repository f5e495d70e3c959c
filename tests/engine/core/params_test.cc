// Every parameter that is out of range is named, with its value and what is allowed.
#include "xgbgpu/params.h"

#include <gtest/gtest.h>

#include <limits>
#include <locale>

#include "support/data.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::WhatIsWrong;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct FloatParam {
  char const* name;
  float TrainParams::*member;
};

std::string WrongWith(FloatParam const& param, float value, std::vector<std::string> const& parts) {
  TrainParams params;
  params.*param.member = value;
  return WhatIsWrong<InvalidArgument>([&] { params.Validate(); }, parts);
}

constexpr FloatParam kNotNegative[] = {
    {"learning_rate", &TrainParams::learning_rate},
    {"min_split_loss", &TrainParams::min_split_loss},
    {"min_child_weight", &TrainParams::min_child_weight},
    {"reg_lambda", &TrainParams::reg_lambda},
    {"reg_alpha", &TrainParams::reg_alpha},
    {"max_delta_step", &TrainParams::max_delta_step},
};
constexpr FloatParam kFractions[] = {
    {"subsample", &TrainParams::subsample},
    {"colsample_bytree", &TrainParams::colsample_bytree},
    {"colsample_bylevel", &TrainParams::colsample_bylevel},
    {"colsample_bynode", &TrainParams::colsample_bynode},
};

TEST(ParamsTest, DefaultsAreValid) { EXPECT_NO_THROW(TrainParams{}.Validate()); }

TEST(ParamsTest, NumbersThatMustNotBeNegative) {
  for (auto const& param : kNotNegative) {
    EXPECT_EQ(WrongWith(param, -0.5f, {param.name, "is -0.5", "0 or larger"}), "") << param.name;
    EXPECT_EQ(WrongWith(param, kNaN, {param.name, "is nan", "finite"}), "") << param.name;
    EXPECT_EQ(WrongWith(param, kInfinity, {param.name, "is inf", "finite"}), "") << param.name;
    for (float value : {0.0f, 1e-30f, 1e30f}) {
      TrainParams params;
      params.*param.member = value;
      EXPECT_NO_THROW(params.Validate()) << param.name << " " << value;
    }
  }
}

TEST(ParamsTest, Fractions) {
  for (auto const& param : kFractions) {
    EXPECT_EQ(WrongWith(param, 0.0f, {param.name, "is 0", "larger than 0, at most 1"}), "") << param.name;
    EXPECT_EQ(WrongWith(param, -0.25f, {param.name, "is -0.25", "at most 1"}), "") << param.name;
    EXPECT_EQ(WrongWith(param, 1.5f, {param.name, "is 1.5", "at most 1"}), "") << param.name;
    EXPECT_EQ(WrongWith(param, kNaN, {param.name, "is nan", "at most 1"}), "") << param.name;
    for (float value : {1e-6f, 0.5f, 1.0f}) {
      TrainParams params;
      params.*param.member = value;
      EXPECT_NO_THROW(params.Validate()) << param.name << " " << value;
    }
  }
}

TEST(ParamsTest, RatesOfGoss) {
  constexpr FloatParam kRates[] = {{"top_rate", &TrainParams::top_rate}, {"other_rate", &TrainParams::other_rate}};
  for (auto const& param : kRates) {
    for (float bad : {0.0f, -0.25f, 1.0f, 1.5f}) {
      EXPECT_EQ(WrongWith(param, bad, {param.name, "larger than 0, less than 1"}), "") << param.name << " " << bad;
    }
    EXPECT_EQ(WrongWith(param, kNaN, {param.name, "is nan", "less than 1"}), "") << param.name;
  }
  TrainParams params;
  params.sampling_method = SamplingMethod::kGoss;
  EXPECT_NO_THROW(params.Validate());
  EXPECT_TRUE(params.SamplesRows());
  for (int tenths = 1; tenths < 10; ++tenths) {  // rates as users write them, whose sum as floats may be a little off
    params.top_rate = static_cast<float>(tenths) / 10.0f;
    params.other_rate = static_cast<float>(10 - tenths) / 10.0f;
    EXPECT_NO_THROW(params.Validate()) << tenths;
  }
  params.top_rate = 0.6f;
  params.other_rate = 0.5f;
  auto const validate = [&] { params.Validate(); };
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(validate, {"top_rate is 0.6", "other_rate is 0.5", "at most 1"}), "");
  params.other_rate = 0.1f;
  params.subsample = 0.5f;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(validate, {"subsample is 0.5", "goss", "top_rate"}), "");
}

TEST(ParamsTest, DepthAndLeaves) {
  TrainParams params;
  params.max_depth = -1;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { params.Validate(); }, {"max_depth", "is -1", "0 or larger"}), "");
  params.max_depth = 0;
  params.max_leaves = -3;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { params.Validate(); }, {"max_leaves", "is -3", "0 or larger"}), "");
}

TEST(ParamsTest, FeatureWeights) {
  TrainParams params;
  for (float bad : {-1.0f, kNaN, kInfinity}) {
    params.feature_weights = {1.0f, bad};
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { params.Validate(); }, {"feature_weights", "0 or larger"}), "") << bad;
  }
  params.feature_weights = {0.0f, 2.0f};
  EXPECT_NO_THROW(params.Validate());
}

// With six digits a message would say that 1 is above 1; with a program's own locale, that 1.5 is "1,5".
TEST(ParamsTest, NumbersInTextsAreToldFromOthers) {
  class Comma : public std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale const before = std::locale::global(std::locale{std::locale::classic(), new Comma});
  FloatParam const subsample{"subsample", &TrainParams::subsample};
  EXPECT_EQ(WrongWith(subsample, 1.0000001f, {"subsample is 1.0000001;"}), "");
  EXPECT_EQ(WrongWith(subsample, 1.5f, {"subsample is 1.5;"}), "");
  EXPECT_EQ(WrongWith(subsample, -1e-30f, {"subsample is -1e-30;"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([] { ValidateMaxBin(70000); }, {"is 70000;", "65535"}), "");
  std::locale::global(before);
}

TEST(ParamsTest, MaxBin) {
  for (std::int64_t bad :
       {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1}, std::int64_t{65536}, std::int64_t{1} << 40}) {
    auto const text = std::to_string(bad);
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { ValidateMaxBin(bad); }, {"max_bin", "is " + text, "2 to 65535"}), "");
  }
  EXPECT_NO_THROW(ValidateMaxBin(2));
  EXPECT_NO_THROW(ValidateMaxBin(kMaxBinLimit));
}

}  // namespace
}  // namespace xgbgpu
