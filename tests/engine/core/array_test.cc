// An array is read as its values are when they come as entries: cuts, matrices, sorted columns and predictions are the
// same, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "collective/in_process.h"
#include "core/row_values.h"
#include "exact/sorted_matrix.h"
#include "matrix/matrix.h"
#include "predict/forest.h"
#include "quantile/quantile.h"
#include "support/data.h"
#include "support/given_trees.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {
namespace {

using reference::Values;
using testing::MemorySource;
using testing::Random;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Shows its rows as an array only.
class OnlyArray final : public RowSource {
 public:
  OnlyArray(DenseValues values, std::uint64_t rows, FeatureIndex features, Span<std::uint8_t const> categorical = {})
      : values_{values}, rows_{rows}, features_{features}, categorical_{categorical} {}

  std::uint64_t rows() const override { return rows_; }
  FeatureIndex features() const override { return features_; }
  Span<std::uint8_t const> categorical() const override { return categorical_; }
  std::optional<DenseValues> dense() const override { return values_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const&) const override {
    ADD_FAILURE() << "The rows were read as entries";
  }

 private:
  DenseValues values_;
  std::uint64_t rows_;
  FeatureIndex features_;
  Span<std::uint8_t const> categorical_;
};

/// The same rows as an array and as entries, without those that are missing.
struct BothForms {
  std::vector<char> bytes;
  DenseValues array;
  Values values;

  OnlyArray dense(Span<std::uint8_t const> categorical = {}) const {
    return {array, values.rows, static_cast<FeatureIndex>(values.features), categorical};
  }
  /// Rows [begin, end).
  OnlyArray dense_rows(std::size_t begin, std::size_t end) const {
    DenseValues own = array;
    own.data = bytes.data() + begin * values.features * ValueBytes(array.type);
    return {own, end - begin, static_cast<FeatureIndex>(values.features)};
  }
  MemorySource entries(std::size_t batch_rows = 0) const { return MemorySource{values, batch_rows}; }
};

/// Values of `T` in no order: `missing` of them NaN, if T has it, or the mark.
template <typename T>
BothForms MakeForms(ValueType type, testing::DataShape const& shape, float mark, std::uint64_t seed) {
  Random random{seed};
  BothForms forms{std::vector<char>(shape.rows * shape.features * sizeof(T)), {}, Values{shape.rows, shape.features}};
  auto* const to = reinterpret_cast<T*>(forms.bytes.data());
  for (std::size_t i = 0; i < forms.values.at.size(); ++i) {
    bool const missing = random.Uniform() < shape.missing;
    std::size_t const level = random.Below(shape.levels == 0 ? 1 << 20 : shape.levels);
    if constexpr (std::is_same_v<T, float>) {
      to[i] = static_cast<float>(level) * 0.75f - 2.5f;
      if (level % 7 == 5) to[i] = level % 2 == 0 ? 0.0f : -0.0f;
      if (missing) to[i] = std::isnan(mark) || i % 2 == 0 ? kNaN : mark;
    } else {
      to[i] = static_cast<T>(level);
      if (missing && !std::isnan(mark)) to[i] = static_cast<T>(mark);
    }
    float const value = static_cast<float>(to[i]);
    forms.values.at[i] = value == mark ? kNaN : value;
  }
  forms.array = {forms.bytes.data(), type, mark};
  return forms;
}

BothForms MakeForms(ValueType type, testing::DataShape const& shape, float mark, std::uint64_t seed) {
  switch (type) {
    case ValueType::kInt8:
      return MakeForms<std::int8_t>(type, shape, mark, seed);
    case ValueType::kUInt8:
      return MakeForms<std::uint8_t>(type, shape, mark, seed);
    case ValueType::kInt16:
      return MakeForms<std::int16_t>(type, shape, mark, seed);
    case ValueType::kUInt16:
      return MakeForms<std::uint16_t>(type, shape, mark, seed);
    default:
      return MakeForms<float>(type, shape, mark, seed);
  }
}

template <typename T>
bool SameBytes(Span<T const> a, Span<T const> b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

void ExpectSame(QuantisedMatrix const& a, QuantisedMatrix const& b) {
  EXPECT_EQ(a.layout, b.layout);
  EXPECT_EQ(a.stored, b.stored);
  EXPECT_EQ(a.cell_ptr, b.cell_ptr);
  EXPECT_EQ(a.row_stride, b.row_stride);
  EXPECT_TRUE(SameBytes<std::uint64_t>(a.row_ptr.span(), b.row_ptr.span()));
  EXPECT_TRUE(SameBytes<std::uint8_t>(a.columns.span(), b.columns.span()));
  EXPECT_EQ(a.data.bytes(), b.data.bytes());
  if (a.columns.size() == 0) {
    EXPECT_TRUE(SameBytes<std::uint8_t>(a.data.span(), b.data.span()));
    return;
  }
  std::size_t const width = a.columns.size() / (a.rows * a.features());  // what pads a row is nobody's
  bool same = true;
  for (std::size_t r = 0; r < a.rows; ++r) {
    std::size_t const begin = r * a.row_stride * width, size = a.features() * width;
    same = same && SameBytes<std::uint8_t>({a.data.data() + begin, size}, {b.data.data() + begin, size});
  }
  EXPECT_TRUE(same);
}

struct ArrayCase {
  std::string name;
  testing::DataShape shape;
};
std::ostream& operator<<(std::ostream& out, ArrayCase const& c) { return out << c.name; }

class ArrayTest : public ::testing::TestWithParam<ArrayCase> {
 protected:
  /// f(rows in both forms) for all types of values and marks.
  template <typename F>
  void ForAllTypes(F&& f) {
    for (ValueType const type :
         {ValueType::kFloat32, ValueType::kInt8, ValueType::kUInt8, ValueType::kInt16, ValueType::kUInt16}) {
      for (float const mark : {kNaN, 0.0f, 3.0f, -2.5f, 300.0f}) {
        bool const possible = type == ValueType::kFloat32 || !(mark < 0 || mark > 127);
        SCOPED_TRACE("type " + std::to_string(static_cast<int>(type)) + ", missing " + std::to_string(mark));
        // A mark that is no value of the type is none of the array's: nothing is missing then.
        testing::DataShape shape = GetParam().shape;
        if (!possible) shape.missing = 0;
        f(MakeForms(type, shape, mark, 91));
      }
    }
  }
};

TEST_P(ArrayTest, CutsAndMatricesAreThoseOfEntries) {
  ForAllTypes([](BothForms const& forms) {
    std::vector<float> weights;
    for (std::size_t r = 0; r < forms.values.rows; ++r) weights.push_back(static_cast<float>(r % 5) * 0.5f);
    for (int const max_bin : {16, 1000}) {
      for (Span<float const> const own : {Span<float const>{}, Span<float const>{weights}}) {
        Cuts const expected = host::ComputeCuts(forms.entries(), own, max_bin, 1);
        auto const matrix = host::QuantiseMatrix(forms.entries(100), expected, 1);
        for (int const threads : {1, 2, 5}) {
          ASSERT_EQ(host::ComputeCuts(forms.dense(), own, max_bin, threads), expected) << threads;
          ExpectSame(*host::QuantiseMatrix(forms.dense(), expected, threads), *matrix);
        }
      }
    }
  });
}

// The host reads arrays that come one after the other as entries.
TEST_P(ArrayTest, CutsAndMatricesOfSeveralArraysAreThoseOfEntries) {
  ForAllTypes([](BothForms const& forms) {
    ArraySource const one{forms.array, forms.values.rows, static_cast<FeatureIndex>(forms.values.features), 2};
    testing::ArraysSource const several{one, forms.values.rows / 3 + 1};
    Cuts const expected = host::ComputeCuts(forms.entries(), {}, 16, 1);
    auto const matrix = host::QuantiseMatrix(forms.entries(100), expected, 1);
    ASSERT_EQ(host::ComputeCuts(several, {}, 16, 2), expected);
    ExpectSame(*host::QuantiseMatrix(several, expected, 2), *matrix);
  });
}

TEST_P(ArrayTest, SortedColumnsAreThoseOfEntries) {
  ForAllTypes([](BothForms const& forms) {
    auto const expected = host::SortColumns(forms.entries(), 1);
    for (int const threads : {1, 2, 5}) {
      auto const sorted = host::SortColumns(forms.dense(), threads);
      ASSERT_EQ(sorted->column_ptr, expected->column_ptr);
      ASSERT_TRUE(
          std::equal(sorted->values.span().begin(), sorted->values.span().end(), expected->values.span().begin(),
                     [](SortedValue const& a, SortedValue const& b) { return a.row == b.row && a.value == b.value; }));
    }
  });
}

TEST_P(ArrayTest, CutsAndMatricesOfShardsAreThoseOfEntries) {
  BothForms const forms = MakeForms(ValueType::kInt16, GetParam().shape, 3.0f, 92);
  std::size_t const rows = forms.values.rows, first = rows / 3;
  std::vector<std::unique_ptr<QuantisedMatrix>> expected(2), got(2);
  Cuts const all = host::ComputeCuts(forms.entries(), {}, 64, 2);
  RunShards(2, [&](Collective& collective) {
    auto const s = static_cast<std::size_t>(collective.shard());
    std::size_t const begin = s == 0 ? 0 : first, end = s == 0 ? first : rows;
    Values own{end - begin, forms.values.features};
    std::copy_n(forms.values.at.data() + begin * own.features, own.at.size(), own.at.data());
    OnlyArray const array = forms.dense_rows(begin, end);
    EXPECT_EQ(host::ComputeCuts(array, {}, 64, 2, collective), all);
    got[s] = host::QuantiseMatrix(array, all, 2, collective);
    expected[s] = host::QuantiseMatrix(MemorySource{own}, all, 2, collective);
  });
  if (first != 0) ExpectSame(*got[0], *expected[0]);
  ExpectSame(*got[1], *expected[1]);
}

TEST_P(ArrayTest, PredictionsAreThoseOfEntries) {
  ForAllTypes([](BothForms const& forms) {
    Random random{93};
    // Features beyond the array's are missing in every row.
    auto const tested = static_cast<FeatureIndex>(std::min<std::size_t>(forms.values.features, 6) + 2);
    std::vector<testing::GivenTree> trees;
    for (std::size_t t = 0; t < 4; ++t) trees.push_back(testing::RandomTree({20, tested}, forms.values, &random));
    Forest const forest = testing::MakeForest(trees);
    std::vector<float> expected(forms.values.rows), leaves(forms.values.rows * 4);
    host::PredictMargins(forms.entries(), forest, 0, 4, RowMajor(expected.data(), expected.size(), 1), 1);
    host::PredictLeaves(forms.entries(), forest, 0, 4, leaves.data(), 1);
    for (int const threads : {1, 2, 5}) {
      std::vector<float> margins(expected.size()), own_leaves(leaves.size());
      host::PredictMargins(forms.dense(), forest, 0, 4, RowMajor(margins.data(), margins.size(), 1), threads);
      host::PredictLeaves(forms.dense(), forest, 0, 4, own_leaves.data(), threads);
      ASSERT_EQ(testing::Bits(margins), testing::Bits(expected));
      ASSERT_EQ(own_leaves, leaves);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ArrayTest,
    ::testing::Values(ArrayCase{"OneValue", {1, 1}}, ArrayCase{"OneRow", {1, 300, 0.2}},
                      ArrayCase{"OneColumn", {3000, 1, 0.1, 100}}, ArrayCase{"ATile", {64, 16, 0.0, 50}},
                      ArrayCase{"MoreThanATile", {65, 17, 0.1, 50}}, ArrayCase{"LessThanATile", {63, 15, 0.1, 50}},
                      ArrayCase{"Complete", {9000, 6}}, ArrayCase{"Missing", {5000, 21, 0.3}},
                      ArrayCase{"FewValues", {700, 33, 0.8, 90}}, ArrayCase{"NoValues", {130, 3, 1.0}},
                      ArrayCase{"ManyColumns", {40, 2500, 0.1, 20}}),
    [](auto const& c) { return c.param.name; });

TEST(ArrayCategoriesTest, AreThoseOfEntries) {
  std::vector<std::uint8_t> const categorical{1, 0, 1};
  for (ValueType const type : {ValueType::kFloat32, ValueType::kUInt8, ValueType::kInt16}) {
    BothForms forms = MakeForms(type, {9000, 3, 0.0, 40}, 7.0f, 94);
    if (type == ValueType::kFloat32) {
      auto* const values = reinterpret_cast<float*>(forms.bytes.data());
      for (std::size_t i = 0; i < forms.values.at.size(); ++i) {
        values[i] = std::floor(std::abs(values[i]));
        forms.values.at[i] = values[i] == 7.0f ? kNaN : values[i];
      }
    }
    MemorySource entries = forms.entries();
    entries.SetCategorical(categorical);
    Cuts const expected = host::ComputeCuts(entries, {}, 64, 1);
    EXPECT_GT(expected.bins(0), 20U);
    for (int const threads : {1, 2, 5}) {
      EXPECT_EQ(host::ComputeCuts(forms.dense(categorical), {}, 64, threads), expected);
      ExpectSame(*host::QuantiseMatrix(forms.dense(categorical), expected, threads),
                 *host::QuantiseMatrix(entries, expected, threads));
    }
  }
}

/// What the error says.
template <typename F>
std::string Complaint(F&& f) {
  try {
    f();
  } catch (InvalidArgument const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(ArrayErrorsTest, AreThoseOfEntries) {
  std::vector<std::uint8_t> const categorical{0, 1, 1};
  for (ValueType const type : {ValueType::kFloat32, ValueType::kInt8, ValueType::kUInt16}) {
    BothForms forms = MakeForms(type, {200, 3, 0.0, 40}, kNaN, 95);
    auto const bad = [&](auto* values, auto value) {
      // Row 70 has the first one in the order of rows, though row 71 has one in an earlier column.
      values[70 * 3 + 2] = values[71 * 3 + 1] = value;
    };
    if (type == ValueType::kFloat32) {
      auto* const values = reinterpret_cast<float*>(forms.bytes.data());
      for (std::size_t i = 0; i < forms.values.at.size(); ++i) values[i] = std::abs(values[i]);
      bad(values, 65535.0f);
    } else if (type == ValueType::kInt8) {
      bad(reinterpret_cast<std::int8_t*>(forms.bytes.data()), std::int8_t{-1});
    } else {
      bad(reinterpret_cast<std::uint16_t*>(forms.bytes.data()), std::uint16_t{65535});
    }
    VisitValues(forms.array, [&](auto const* values) {
      for (std::size_t i = 0; i < forms.values.at.size(); ++i) forms.values.at[i] = static_cast<float>(values[i]);
    });
    MemorySource entries = forms.entries();
    entries.SetCategorical(categorical);
    std::string const expected = Complaint([&] { host::ComputeCuts(entries, {}, 64, 1); });
    EXPECT_NE(expected.find("Category of row 70, feature 2"), std::string::npos) << expected;
    EXPECT_EQ(Complaint([&] { host::ComputeCuts(forms.dense(categorical), {}, 64, 1); }), expected);
  }
}

TEST(ArrayErrorsTest, NoRowsAreNoErrorAndNoFeaturesAreOne) {
  float const value = 0;
  EXPECT_EQ(Dataset::Build(OnlyArray{{&value}, 0, 3}, {}, 256, 2)->rows(), 0U);
  EXPECT_EQ(testing::WhatIsWrong<InvalidArgument>(
                [&] {
                  Dataset::Build(OnlyArray{{&value}, 2, 0}, {}, 256, 2);
                },
                {"0 features", "1 or more"}),
            "");
}

TEST(ArrayPlaceTest, OfADeviceIsNotReadByTheHost) {
  DenseValues elsewhere{nullptr};
  elsewhere.device = 0;
  EXPECT_FALSE(HostArray(OnlyArray{elsewhere, 1, 1}).has_value());
  EXPECT_TRUE(HostArray(OnlyArray{DenseValues{nullptr}, 1, 1}).has_value());
}

TEST(ArraySourceTest, HandsOutItsValuesAsEntries) {
  // More values than a batch has.
  BothForms const forms = MakeForms(ValueType::kUInt8, {700000, 4, 0.2, 90}, 3.0f, 96);
  ArraySource const source{forms.array, 700000, 4, 2};
  std::uint64_t next = 0;
  bool same = true;
  source.ForEachBatch([&](RowBatch const& batch) {
    EXPECT_EQ(batch.first_row, next);
    for (std::uint64_t i = 0; i < batch.rows(); ++i, ++next) {
      for (FeatureIndex f = 0; f < 4; ++f) {
        Entry const e = batch.row(i)[f];
        float const expected = forms.values(next, f);
        same = same && e.feature == f && (e.value == expected || (std::isnan(e.value) && std::isnan(expected)));
      }
    }
  });
  EXPECT_EQ(next, 700000U);
  EXPECT_TRUE(same);
}

}  // namespace
}  // namespace xgbgpu
