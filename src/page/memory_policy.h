/// How much memory of the host pages may take.
#ifndef XGBGPU_PAGE_MEMORY_POLICY_H_
#define XGBGPU_PAGE_MEMORY_POLICY_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "xgbgpu/memory_limits.h"

namespace xgbgpu {

/// Returns the bytes of memory that this process and others of its control groups may have together: the least that the
/// machine or one of these groups (version 1 or 2) allows; 0 if nothing is known. `root` is for tests: the folder in
/// which proc/ and sys/ are.
std::uint64_t AllowedMemory(std::string const& root = "/");

/// Returns the bytes that pages of a device may take in host memory, 1 or more: the shard's part of
/// gpu_host_memory_limit, or of half of what is allowed, since the user's data have to be somewhere, too.
///
/// Cost    without a limit some milliseconds: where a machine has much memory, the kernel counts it for each reader
inline std::uint64_t HostPageBytes(MemoryLimits const& limits) {
  std::uint64_t const bytes = limits.host_bytes != 0 ? limits.host_bytes : AllowedMemory() / 2;
  return std::max<std::uint64_t>(1, bytes / limits.host_sharers);
}

/// Returns the limits for one of `sharers` shards that keep their pages in the memory of this host together.
inline MemoryLimits ShareOfHost(MemoryLimits limits, std::uint64_t sharers) {
  limits.host_sharers *= sharers;
  return limits;
}

}  // namespace xgbgpu

#endif  // XGBGPU_PAGE_MEMORY_POLICY_H_
