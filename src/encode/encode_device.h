/// The functions of encode.h on a CUDA device, for callers that know no CUDA.
#ifndef XGBGPU_ENCODE_ENCODE_DEVICE_H_
#define XGBGPU_ENCODE_ENCODE_DEVICE_H_

#include <cstdint>

#include "encode/encode.h"
#include "xgbgpu/api.h"

namespace xgbgpu {

/// Does the work of host::OrderTargets, or of host::SumTargets if statistics.data is null. The bits are the same.
///
/// In      arrays on the host, which are copied to the device, or on the device; priors is an array on the host
/// Out     statistics and totals, on the host or on the device
/// Cost    24 bytes a row on the device, 16 for each category, and the copies
/// Throws  InvalidArgument as host::OrderTargets; Unsupported (more than 2^31 - 1 rows, or no CUDA in this build),
///         OutOfDeviceMemory, DeviceError
XGBGPU_API void OrderTargetsOnDevice(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                                     double const* priors, StatisticsView statistics, CategoryTotals totals,
                                     int device);

/// Does the work of host::NumberKeys. Arrays are on the host or on the device.
///
/// Cost    24 bytes a key on the device
/// Throws  as OrderTargetsOnDevice
std::uint32_t NumberKeysOnDevice(Span<std::uint64_t const> keys, std::uint32_t* codes, int device);

}  // namespace xgbgpu

#endif  // XGBGPU_ENCODE_ENCODE_DEVICE_H_
