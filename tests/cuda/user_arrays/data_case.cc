// Makes data of many shapes, dense and sparse.
#include "user_arrays/data_case.h"

#include <algorithm>
#include <ostream>

namespace xgbgpu::testing {

void PrintTo(DataCase const& c, std::ostream* os) { *os << c.name; }

std::vector<DataCase> const& DataCases() {
  constexpr auto kReversed = EntryOrder::kReversed;
  static std::vector<DataCase> const kCases = {
      {"OneValue", {1, 1}},
      {"OneRow", {1, 40}},
      {"OneColumn", {5000, 1}},
      {"OneColumnMissing", {5000, 1, 0.3}},
      {"Dense", {3000, 28}},
      {"DenseMissing", {3000, 28, 0.2}},
      {"DenseReversed", {1500, 9, 0.1}, kReversed},
      {"DenseNaN", {1500, 9, 0.1}, EntryOrder::kAscending, true},
      {"DenseFewValues", {2000, 33, 0.1, 5}},
      {"DenseSpecial", {1000, 12, 0.05, 0}, EntryOrder::kAscending, false, true},
      {"DenseAllOf256", {4000, 5, 0.0, 256}},
      {"DenseStoredButMissing",
       {800, 7, 0.8},
       EntryOrder::kAscending,
       true},  // dense by its entries, sparse by its values
      {"HalfMissing", {1000, 10, 0.5}},
      {"ManyValues", {70000, 3}},
      {"ManyValuesMissing", {70000, 3, 0.1}},
      {"Wide", {100, 1000, 0.05}},
      {"SeveralPieces", {500000, 5}},
      {"Sparse", {4000, 60, 0.9}},
      {"SparseReversed", {1500, 30, 0.8}, kReversed},
      {"SparseNaN", {1500, 30, 0.9}, kReversed, true},
      {"SparseFewValues", {4000, 40, 0.7, 3}},
      {"SparseSpecial", {1000, 40, 0.8, 0}, EntryOrder::kAscending, false, true},
      {"VerySparse", {3000, 700, 0.995}},
      {"SparseSeveralPieces", {40000, 100, 0.7}},
      {"NothingStored", {50, 4, 1.0}},
  };
  return kCases;
}

namespace {

reference::Values MakeValues(DataCase const& c) {
  auto values = RandomValues(c.shape, 71);
  if (!c.special) return values;
  for (std::size_t r = 0; r < values.rows; ++r) {
    values(r, 0) = 2.5f;
    values(r, 1) = reference::kMissing;
    values(r, 2) = r % 2 == 0 ? 0.0f : -0.0f;
    if (r % 3 == 0) values(r, 3) = r % 2 == 0 ? 0.0f : -0.0f;
    values(r, 4) = r == 17 ? -1e-30f : reference::kMissing;  // this column has one value
    values(r, values.features - 1) = reference::kMissing;
  }
  return values;
}

}  // namespace

MemorySource MakeSource(DataCase const& c, std::size_t batch_rows) {
  auto const values = MakeValues(c);
  MemorySource source{values, batch_rows};
  if (c.store_missing) {
    for (std::size_t r = 0; r < values.rows; ++r) {
      source.data()[r].clear();
      for (FeatureIndex f = 0; f < values.features; ++f) {
        // With ascending entries all NaNs are stored. With reversed ones, which sparse data have, one in ten is, so
        // that they stay sparse.
        bool const stored = values(r, f) == values(r, f) || c.order == EntryOrder::kAscending || (r + f) % 10 == 0;
        if (stored) source.data()[r].push_back({f, values(r, f)});
      }
    }
  }
  if (c.order == EntryOrder::kReversed) {
    for (auto& row : source.data()) std::reverse(row.begin(), row.end());
  }
  return source;
}

std::vector<float> RandomWeights(std::size_t rows, std::uint64_t seed) {
  Random random{seed};
  std::vector<float> weights(rows);
  for (float& w : weights) w = random.Below(8) == 0 ? 0.0f : static_cast<float>(random.Below(1024)) / 256.0f;
  return weights;
}

std::vector<Reading> Readings(DataCase const& c) {
  std::size_t const column_bytes = c.shape.rows * sizeof(float);
  return {{0, 0, 3, {2, 16, 256, 1000, 65535}},
          {7 + c.shape.rows / 50, 0, 1, {64, 256}},
          {0, 40 * column_bytes, 2, {256, 3000}},
          {c.shape.rows / 3 + 1, 1, 2, {16}}};
}

std::string NameOf(Reading const& reading) {
  return "batches of " + std::to_string(reading.batch_rows) + ", " + std::to_string(reading.memory_bytes) +
         " bytes of memory, " + std::to_string(reading.threads) + " threads";
}

}  // namespace xgbgpu::testing
