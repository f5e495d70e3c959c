// Makes random matrices, weights and gradients from a seed.
#include "support/data.h"

#include <algorithm>
#include <cmath>

#include "xgbgpu/array_source.h"

namespace xgbgpu::testing {

MemorySource::MemorySource(reference::Values const& values, std::size_t batch_rows)
    : rows_(values.rows), features_{static_cast<FeatureIndex>(values.features)}, batch_rows_{batch_rows} {
  for (std::size_t r = 0; r < values.rows; ++r) {
    for (std::size_t f = 0; f < values.features; ++f) {
      if (!std::isnan(values(r, f))) rows_[r].push_back({static_cast<FeatureIndex>(f), values(r, f)});
    }
  }
}

void MemorySource::ForEachBatch(std::function<void(RowBatch const&)> const& visit) const {
  std::size_t const step = batch_rows_ == 0 ? std::max<std::size_t>(1, rows_.size()) : batch_rows_;
  for (std::size_t first = 0; first < rows_.size(); first += step) {
    std::vector<std::uint64_t> offsets{0};
    std::vector<Entry> entries;
    for (std::size_t r = first; r < std::min(rows_.size(), first + step); ++r) {
      entries.insert(entries.end(), rows_[r].begin(), rows_[r].end());
      offsets.push_back(entries.size());
    }
    visit({first, offsets, entries});
  }
}

std::optional<DenseValues> ArraysSource::arrays() const {
  std::optional<DenseValues> common = whole_.dense();
  if (common) common->data = nullptr;
  return common;
}

void ArraysSource::ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const {
  ++passes_;
  DenseValues const all = *whole_.dense();
  std::size_t const row_bytes = features() * ValueBytes(all.type);
  std::vector<std::uint8_t> copy(all.device == kHostMemory ? most_rows_ * row_bytes : 0);
  for (std::uint64_t first = 0; first < rows(); first += most_rows_) {
    std::uint64_t const n = std::min(most_rows_, rows() - first);
    DenseValues own = FromRow(all, first, features());
    if (all.device == kHostMemory) {
      std::copy_n(static_cast<std::uint8_t const*>(own.data), n * row_bytes, copy.begin());
      own.data = copy.data();
    }
    visit({own, first, n});
    std::fill(copy.begin(), copy.end(), std::uint8_t{0x5A});
  }
}

reference::Values RandomValues(DataShape const& shape, std::uint64_t seed) {
  Random random{seed};
  reference::Values values{shape.rows, shape.features};
  for (float& v : values.at) {
    bool const missing = random.Uniform() < shape.missing;
    float const x = shape.levels == 0 ? random.Between(-4, 4) : static_cast<float>(random.Below(shape.levels)) - 2.5f;
    if (!missing) v = x;
  }
  return values;
}

void MakeCategories(reference::Values* values, std::size_t feature, std::size_t levels, std::uint64_t seed,
                    std::vector<GradientPair>* gradients) {
  Random random{seed};
  std::vector<float> effect(levels);
  for (float& e : effect) e = random.Between(-0.4f, 0.4f);
  for (std::size_t r = 0; r < values->rows; ++r) {
    float& value = (*values)(r, feature);
    std::size_t const category = random.Below(random.Below(levels) + 1);
    if (std::isnan(value)) continue;
    value = static_cast<float>(category);
    (*gradients)[r].grad += effect[category];
  }
}

std::vector<GradientPair> RandomGradients(reference::Values const& values, std::uint64_t seed) {
  Random random{seed};
  std::vector<GradientPair> gradients(values.rows);
  for (std::size_t r = 0; r < values.rows; ++r) {
    float signal = 0;
    for (std::size_t f = 0; f < std::min<std::size_t>(3, values.features); ++f) {
      float const v = values(r, f);
      signal += std::isnan(v) ? 0.3f : (v > 0.5f ? 0.25f : -0.15f);
    }
    gradients[r] = {std::clamp(signal + random.Between(-0.4f, 0.4f), -0.999f, 0.999f), 1.0f - random.Uniform()};
  }
  return gradients;
}

}  // namespace xgbgpu::testing
