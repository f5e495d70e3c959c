/// Does on a CUDA device what encode.h does on the host, for callers that know no CUDA.
#ifndef XGBGPU_ENCODE_ENCODE_DEVICE_H_
#define XGBGPU_ENCODE_ENCODE_DEVICE_H_

#include <cstdint>

#include "encode/encode.h"
#include "xgbgpu/api.h"

namespace xgbgpu {

/// Does what host::OrderTargets does, or host::SumTargets if statistics.data is null, with the same bits.
///
/// In      arrays of the host, which are copied to the device, or of the device, which are read where they are;
///         priors is an array of the host
/// Out     statistics and totals, in either memory
/// Cost    24 bytes a row on the device, 16 for each category and what is copied
/// Throws  InvalidArgument as host::OrderTargets; Unsupported (more than 2^31 - 1 rows, or no CUDA in this build),
///         OutOfDeviceMemory, DeviceError
XGBGPU_API void OrderTargetsOnDevice(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                                     double const* priors, StatisticsView statistics, CategoryTotals totals,
                                     int device);

/// Does what host::NumberKeys does. Arrays may be in either memory.
///
/// Cost    24 bytes a key on the device
/// Throws  as OrderTargetsOnDevice
std::uint32_t NumberKeysOnDevice(Span<std::uint64_t const> keys, std::uint32_t* codes, int device);

}  // namespace xgbgpu

#endif  // XGBGPU_ENCODE_ENCODE_DEVICE_H_
