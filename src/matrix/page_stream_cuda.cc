// Copies pages from host memory or a file to slots of a device, in a cycle.
#include "matrix/page_stream_cuda.h"

#include <algorithm>

namespace xgbgpu::cuda {

namespace {

constexpr char const* kCopying = "copying a page to the device";
constexpr std::size_t kBlock = 4096;  // PageStore::Read reads directly if target and size are multiples of this

std::size_t InBlocks(std::size_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

}  // namespace

struct PageStream::Slot {
  DeviceBuffer<std::uint8_t> bytes;
  Event copied;   ///< the page is in the slot
  Event is_free;  ///< the page has been used
};

/// Pinned buffers for pages of a file, used in turn.
struct PageStream::Reader {
  struct Buffer {
    PinnedBuffer<std::uint8_t> bytes;
    Event copied;  ///< to the device
  };
  explicit Reader(std::size_t bytes) {
    for (Buffer& buffer : buffers) buffer.bytes = PinnedBuffer<std::uint8_t>{InBlocks(bytes)};
  }
  Buffer buffers[PageStream::kSlots];
  std::size_t next{0};
};

PageStream::PageStream(PagedBins const& bins, DeviceArena* arena, Stream const& stream)
    : bins_{bins},
      arena_{arena},
      stream_{stream},
      limits_{CurrentDeviceLimits()},
      unpacked_{arena, "pages", bins.most_unpacked_bytes()},
      slots_{new Slot[kSlots]},
      kept_(bins.pages().size()) {
  std::size_t const slots = std::min(kSlots, bins.pages().size());
  for (std::size_t s = 0; s < slots; ++s) slots_[s].bytes = {arena, "pages", InBlocks(bins.most_bytes())};
  if (bins.store().file_bytes() != 0) reader_ = std::make_unique<Reader>(bins.most_bytes());
}

PageStream::~PageStream() {
  cudaStreamSynchronize(copies_);
  cudaStreamSynchronize(stream_);
}

/// Enqueues the copy of a page. Reads a page in the file first.
void PageStream::Copy(std::size_t page, std::uint8_t* to) const {
  std::size_t const bytes = bins_.bytes(page);
  copied_bytes_ += bytes;
  if (std::uint8_t const* const from = bins_.store().InMemory(page)) {
    CopyToDevice(to, from, bytes, copies_, kCopying);
    return;
  }
  Reader::Buffer& buffer = reader_->buffers[reader_->next++ % kSlots];
  buffer.copied.Wait(kCopying);
  bins_.store().Read(page, buffer.bytes.data());
  CopyToDevice(to, buffer.bytes.data(), bytes, copies_, kCopying);
  buffer.copied.Record(copies_);
}

/// Returns the first page from `page` on, in the cycle, that does not stay on the device, or the number of pages if all
/// stay.
std::size_t PageStream::NextStreamed(std::size_t page) const {
  std::size_t const pages = kept_.size();
  for (std::size_t i = 0; i < pages; ++i) {
    if (!stays((page + i) % pages)) return (page + i) % pages;
  }
  return pages;
}

/// Copies the next page into a free slot.
void PageStream::CopyAhead(std::size_t slot) const {
  std::size_t const page = NextStreamed(next_);
  if (page == kept_.size()) return;
  slots_[slot].is_free.HoldUp(copies_);
  Copy(page, slots_[slot].bytes.data());
  slots_[slot].copied.Record(copies_);
  coming_.push_back({page, slot});
  next_ = (page + 1) % kept_.size();
}

/// Copies ahead from `page` on, and drops the pages in flight.
void PageStream::StartOver(std::size_t page) const {
  copies_.Wait(kCopying);
  stream_.Wait(kCopying);  // a failed visit may not have freed its slot
  coming_.clear();
  next_ = page;
  for (std::size_t s = 0; s < std::min(kSlots, kept_.size()); ++s) CopyAhead(s);
}

void PageStream::ForEach(std::function<void(Page<DeviceMatrixView> const&)> const& visit) const {
  for (std::size_t page = 0; page < kept_.size(); ++page) {
    std::uint64_t const first_row = bins_.pages()[page].first_row;
    if (stays(page)) {
      Kept& kept = kept_[page];
      if (!kept.is_there) {
        Copy(page, kept.bytes.data());
        copies_.Wait(kCopying);
        kept.is_there = true;
      }
      DeviceMatrixView const view = bins_.Unpack(page, kept.bytes.data(), unpacked_.data(), limits_, stream_);
      visit({view, first_row});
      continue;
    }
    if (coming_.empty() || coming_.front().page != page) StartOver(page);
    Coming const here = coming_.front();
    coming_.pop_front();
    Slot const& slot = slots_[here.slot];
    slot.copied.HoldUp(stream_);
    DeviceMatrixView const view = bins_.Unpack(page, slot.bytes.data(), unpacked_.data(), limits_, stream_);
    if (bins_.is_dense()) slot.is_free.Record(stream_);
    visit({view, first_row});
    if (!bins_.is_dense()) slot.is_free.Record(stream_);
    CopyAhead(here.slot);
  }
}

void PageStream::KeepPages(std::size_t reserve) {
  std::size_t const pages = kept_.size(), room = arena_->room();
  std::size_t const more = room <= reserve ? 0 : (room - reserve) / InBlocks(bins_.most_bytes());
  std::size_t const wanted = std::min(bins_.most_kept(), kept_count_ + more);
  if (wanted <= kept_count_) return;
  // Pages that stay are spread over all pages, so that other pages are copied during their visits.
  std::size_t const before = kept_count_;
  keeps_now_ = true;
  for (std::size_t page = 0; page < pages && kept_count_ < wanted; ++page) {
    bool const chosen = (page + 1) * wanted / pages != page * wanted / pages;
    if (!chosen || stays(page)) continue;
    try {
      kept_[page].bytes = {arena_, "pages that stay", bins_.bytes(page)};
    } catch (OutOfDeviceMemory const&) {
      break;  // another process took the memory first
    }
    ++kept_count_;
  }
  keeps_now_ = false;
  if (kept_count_ != before) coming_.clear();
}

std::size_t PageStream::room() const {
  std::size_t room = arena_->room();
  for (Kept const& kept : kept_) room += kept.bytes.bytes();
  return room;
}

bool PageStream::GiveUpPages() {
  if (kept_count_ == 0 || keeps_now_) return false;
  stream_.Wait("giving up pages");
  for (Kept& kept : kept_) kept = {};
  kept_count_ = 0;
  coming_.clear();
  return true;
}

}  // namespace xgbgpu::cuda
