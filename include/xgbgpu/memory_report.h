/// The memory that a trainer holds.
#ifndef XGBGPU_MEMORY_REPORT_H_
#define XGBGPU_MEMORY_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xgbgpu {

/// Memory of a trainer beside its dataset, where the trainer trains.
struct MemoryReport {
  struct Part {
    std::string name;
    std::size_t bytes;
  };
  /// Bins that are not in core.
  struct Pages {
    std::size_t count{0};           ///< 0: the bins are in core
    std::size_t on_device{0};       ///< pages that stay where the training takes place
    std::size_t memory_bytes{0};    ///< host memory of the pages
    std::size_t file_bytes{0};      ///< disk space of the pages
    std::uint64_t copied_bytes{0};  ///< bytes copied so far to where the training takes place
  };
  std::size_t bytes{0};
  std::size_t peak_bytes{0};
  std::vector<Part> parts;  ///< the uses of `bytes`
  Pages pages;
};

}  // namespace xgbgpu

#endif  // XGBGPU_MEMORY_REPORT_H_
