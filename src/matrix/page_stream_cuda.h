/// Copies the pages of a matrix to a CUDA device ahead of their visits. docs/adr/0024-pages.md
#ifndef XGBGPU_MATRIX_PAGE_STREAM_CUDA_H_
#define XGBGPU_MATRIX_PAGE_STREAM_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "cuda/device.h"
#include "matrix/paged_bins_cuda.h"
#include "page/page.h"

namespace xgbgpu::cuda {

/// Pages come in a cycle: during a visit the next pages are copied, across the end of a pass, too. Pages stay on the
/// device while there is room.
///
/// Memory  kSlots packed pages, one unpacked page, and the pages that stay
class PageStream final : public PageSource<DeviceMatrixView> {
 public:
  static constexpr std::size_t kSlots = 3;

  /// Visits are enqueued on `stream`. The arguments' objects must outlive this object. The device must be current in
  /// every call.
  PageStream(PagedBins const& bins, DeviceArena* arena, Stream const& stream);
  ~PageStream() override;

  void ForEach(std::function<void(Page<DeviceMatrixView> const&)> const& visit) const override;
  /// Lets pages stay on the device while its arena has room beside `reserve` bytes.
  void KeepPages(std::size_t reserve);
  /// Frees the memory of all pages that stay. Returns false if no page did. Waits.
  bool GiveUpPages();

  /// Returns the bytes that the arena may still hold, plus the bytes of pages that stay.
  std::size_t room() const;

  PagedBins const& bins() const { return bins_; }
  std::size_t kept() const { return kept_count_; }
  std::uint64_t copied_bytes() const { return copied_bytes_; }  ///< bytes copied from the host so far

 private:
  struct Slot;
  struct Reader;
  struct Kept {
    DeviceBuffer<std::uint8_t> bytes;
    bool is_there{false};
  };
  struct Coming {
    std::size_t page;
    std::size_t slot;
  };

  bool stays(std::size_t page) const { return kept_[page].bytes.data() != nullptr; }
  void CopyAhead(std::size_t slot) const;
  void Copy(std::size_t page, std::uint8_t* to) const;
  void StartOver(std::size_t page) const;
  std::size_t NextStreamed(std::size_t page) const;

  PagedBins const& bins_;
  DeviceArena* arena_;
  Stream const& stream_;
  DeviceLimits limits_;
  Stream copies_;
  DeviceBuffer<std::uint8_t> unpacked_;
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<Reader> reader_;  ///< of pages in a file; null: all pages are in memory
  // The members below change with every visit.
  mutable std::vector<Kept> kept_;
  std::size_t kept_count_{0};
  bool keeps_now_{false};
  mutable std::deque<Coming> coming_;
  mutable std::size_t next_{0};  ///< page to copy after the pages in flight
  mutable std::uint64_t copied_bytes_{0};
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_PAGE_STREAM_CUDA_H_
