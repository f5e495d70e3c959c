// Puts pages into memory or a file, and compares checksums when it reads the file.
#include "page/page_store.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/message.h"
#include "page/page_file.h"

namespace xgbgpu {

namespace {

class OrdinaryMemory : public PageMemory {
 public:
  void* Allocate(std::size_t bytes) override { return AllocateAligned(bytes); }
  void Free(void* memory) noexcept override { std::free(memory); }
};

struct Release {
  PageMemory* owner;
  void operator()(std::uint8_t* memory) const { owner->Free(memory); }
};

struct StoredPage {
  std::unique_ptr<std::uint8_t, Release> memory;  ///< nullptr: the page is in the file
  PagePlace place;                                ///< for a page in memory only its size counts
  std::uint64_t checksum{0};                      ///< of a page in the file
};

}  // namespace

struct PageStore::Impl {
  Options options;
  std::vector<StoredPage> pages;
  std::size_t memory_bytes{0};
  std::uint64_t file_bytes{0};
  std::unique_ptr<PageFile> file;
};

PageStore::PageStore(Options options) : impl_{std::make_unique<Impl>()} {
  if (options.memory == nullptr) options.memory = std::make_shared<OrdinaryMemory>();
  impl_->options = std::move(options);
}

PageStore::~PageStore() = default;

std::size_t PageStore::Add(Span<std::uint8_t const> page) {
  StoredPage stored{{nullptr, Release{impl_->options.memory.get()}}, {impl_->pages.size(), 0, page.size()}};
  if (page.size() <= impl_->options.memory_bytes - impl_->memory_bytes) {
    stored.memory.reset(static_cast<std::uint8_t*>(impl_->options.memory->Allocate(page.size())));
  }
  if (stored.memory != nullptr) {
    if (!page.empty()) std::memcpy(stored.memory.get(), page.data(), page.size());
  } else {
    if (impl_->file == nullptr) {
      bool const has_memory = impl_->options.memory_bytes != 0;
      impl_->file =
          std::make_unique<PageFile>(impl_->options.folder, has_memory ? ", or a larger gpu_host_memory_limit" : "");
    }
    stored.place.offset = impl_->file_bytes;
    stored.checksum = HashBytes(page.data(), page.size());
    impl_->file->Write(stored.place, page.data());
  }
  impl_->pages.push_back(std::move(stored));  // no exception from here on: a page that failed has left no trace
  StoredPage const& added = impl_->pages.back();
  if (added.memory != nullptr) {
    impl_->memory_bytes += page.size();
  } else {
    impl_->file_bytes = added.place.end();
  }
  return impl_->pages.size() - 1;
}

void PageStore::Read(std::size_t page, std::uint8_t* to) const {
  StoredPage const& stored = impl_->pages[page];
  std::size_t const bytes = stored.place.bytes;
  if (stored.memory != nullptr) {
    if (bytes != 0) std::memcpy(to, stored.memory.get(), bytes);
    return;
  }
  impl_->file->Read(stored.place, to);
  if (HashBytes(to, bytes) == stored.checksum) return;
  Throw<Error>("Page ", page, " of ", bytes, " bytes at offset ", stored.place.offset, " of the file in folder ",
               QuotedName(impl_->file->folder()),
               " is not what was written there: its checksum differs; possible: "
               "another gpu_cache_folder, and training again");
}

std::size_t PageStore::pages() const { return impl_->pages.size(); }
std::size_t PageStore::bytes(std::size_t page) const { return impl_->pages[page].place.bytes; }
std::uint8_t const* PageStore::InMemory(std::size_t page) const { return impl_->pages[page].memory.get(); }
std::size_t PageStore::memory_bytes() const { return impl_->memory_bytes; }
std::size_t PageStore::file_bytes() const { return impl_->file_bytes; }
int PageStore::descriptor() const { return impl_->file == nullptr ? -1 : impl_->file->descriptor(); }

}  // namespace xgbgpu
