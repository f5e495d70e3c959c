/// Compares leaf columns, of any implementation, with sums that are made one addition at a time.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_COLUMN_CASE_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_COLUMN_CASE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/data.h"
#include "xgbgpu/error.h"
#include "xgbgpu/leaf_columns.h"

namespace xgbgpu::testing {

class ColumnCase {
 public:
  ColumnCase(std::size_t rows, std::uint32_t outputs, std::size_t columns) : rows_{rows}, outputs_{outputs} {
    for (std::size_t i = 0; i < rows * outputs; ++i) base_.push_back(random_.Between(-1, 1));
    for (std::size_t c = 0; c < columns; ++c) {
      columns_.emplace_back();
      for (std::size_t i = 0; i < rows; ++i) columns_.back().push_back(random_.Between(-0.3f, 0.3f));
    }
  }

  /// Plays two trainings one after the other. In each columns are added, and weights stay, change and become 0.
  void Check(LeafColumns* columns) {
    for (int training = 0; training < 2; ++training) {
      columns->BeginColumns(base_);
      std::vector<float> weights;
      Expect(columns, weights, "base");
      EXPECT_TRUE(columns->ReserveColumns(2));
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        columns->AddColumn(columns_[c], OutputOf(c));
        weights.push_back(c % 5 == 4 ? 0.25f : 1.0f);
        if (c % 7 != 3) continue;
        Expect(columns, weights, "a new tree");
        auto dropped = weights;
        dropped[c / 2] = dropped[c] = 0;
        Expect(columns, dropped, "dropped trees");
        weights[c / 2] *= 0.7f;
      }
      Expect(columns, weights, "all trees");
      Expect(columns, weights, "the same again");
      Expect(columns, std::vector<float>(weights.size()), "none left");
      EXPECT_EQ(columns->columns(), columns_.size());
      weights.pop_back();
      EXPECT_THROW(columns->WeighColumns(weights), InvalidArgument);
      columns->EndColumns();
      EXPECT_FALSE(columns->has_columns());
    }
  }

 private:
  std::uint32_t OutputOf(std::size_t column) const { return static_cast<std::uint32_t>(column / 2 % outputs_); }

  void Expect(LeafColumns* columns, std::vector<float> const& weights, char const* what) const {
    std::vector<float> expected = base_, found(base_.size());
    for (std::size_t c = 0; c < weights.size(); ++c) {
      if (weights[c] == 0) continue;
      for (std::size_t row = 0; row < rows_; ++row) {
        float const product = columns_[c][row] * weights[c];
        expected[row * outputs_ + OutputOf(c)] += product;
      }
    }
    columns->WeighColumns(weights);
    columns->CopyMargins(found);
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0)
        << what << ": " << rows_ << " rows, " << outputs_ << " outputs, " << weights.size() << " trees";
  }

  Random random_{11};
  std::size_t rows_;
  std::uint32_t outputs_;
  std::vector<float> base_;  ///< row-major
  std::vector<std::vector<float>> columns_;
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_COLUMN_CASE_H_
