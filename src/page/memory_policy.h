/// Chooses the host memory for pages.
#ifndef XGBGPU_PAGE_MEMORY_POLICY_H_
#define XGBGPU_PAGE_MEMORY_POLICY_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "xgbgpu/memory_limits.h"

namespace xgbgpu {

/// Returns the memory limit of this process: the least limit of the machine and of the process's control groups
/// (version 1 or 2), in bytes; 0 if it is unknown. `root` is the folder of proc/ and sys/, for tests.
std::uint64_t AllowedMemory(std::string const& root = "/");

/// Returns the host memory for a device's pages in bytes, 1 or more: the shard's part of gpu_host_memory_limit, or
/// without a limit of half of the allowed memory. The other half is for the user's data.
///
/// Cost    some milliseconds without a limit: with much memory the kernel counts it anew for each reader
inline std::uint64_t HostPageBytes(MemoryLimits const& limits) {
  std::uint64_t const bytes = limits.host_bytes != 0 ? limits.host_bytes : AllowedMemory() / 2;
  return std::max<std::uint64_t>(1, bytes / limits.host_sharers);
}

/// Returns the limits of one of `sharers` shards that share the host memory for pages.
inline MemoryLimits ShareOfHost(MemoryLimits limits, std::uint64_t sharers) {
  limits.host_sharers *= sharers;
  return limits;
}

}  // namespace xgbgpu

#endif  // XGBGPU_PAGE_MEMORY_POLICY_H_
