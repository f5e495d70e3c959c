/// Categories as numbers on a CUDA device. CUDA builds only.
#ifndef XGBGPU_ENCODE_ENCODE_CUDA_H_
#define XGBGPU_ENCODE_ENCODE_CUDA_H_

#include <cstdint>

#include "xgbgpu/encode.h"
#include "xgbgpu/span.h"

namespace xgbgpu::cuda {

/// xgbgpu::OrderTargetsOnDevice has the contract.
void OrderTargets(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                  double const* priors, StatisticsView statistics, CategoryTotals totals, int device);

/// xgbgpu::NumberKeysOnDevice has the contract.
std::uint32_t NumberKeys(Span<std::uint64_t const> keys, std::uint32_t* codes, int device);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_ENCODE_ENCODE_CUDA_H_
