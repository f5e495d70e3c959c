/// Limits of the memory of a training, and the place of its pages if a limit is less than it takes in core.
#ifndef XGBGPU_MEMORY_LIMITS_H_
#define XGBGPU_MEMORY_LIMITS_H_

#include <cstdint>
#include <string>

namespace xgbgpu {

/// The limits of one training. Every limit gives the same model. docs/adr/0024-pages.md
struct MemoryLimits {
  /// Bytes that a training may take where trees grow, including the construction of bins (gpu_memory_limit). 0: on a
  /// device the free memory; on the host no limit.
  std::uint64_t training_bytes{0};
  /// Bytes of host memory that pages of a device may take (gpu_host_memory_limit). 0: half of the memory of the machine
  /// or its control group. Pages of the host backend go directly to disk.
  std::uint64_t host_bytes{0};
  /// The folder of pages on disk (gpu_cache_folder). Empty: $TMPDIR, or /var/tmp without it.
  std::string cache_folder;
  /// Number of shards that share host_bytes: devices of this process, or workers of this machine.
  std::uint64_t host_sharers{1};
};

inline bool operator==(MemoryLimits const& a, MemoryLimits const& b) {
  return a.training_bytes == b.training_bytes && a.host_bytes == b.host_bytes && a.cache_folder == b.cache_folder &&
         a.host_sharers == b.host_sharers;
}

}  // namespace xgbgpu

#endif  // XGBGPU_MEMORY_LIMITS_H_
