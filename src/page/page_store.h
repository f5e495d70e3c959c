/// Keeps pages of bytes that do not fit where a training takes place: in host memory, and then in a file.
#ifndef XGBGPU_PAGE_PAGE_STORE_H_
#define XGBGPU_PAGE_PAGE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "xgbgpu/span.h"

namespace xgbgpu {

/// Host memory for pages. On a device it is pinned, so that copies need no detour.
class PageMemory {
 public:
  virtual ~PageMemory() = default;
  /// Returns `bytes` bytes, or nullptr if there are none left.
  virtual void* Allocate(std::size_t bytes) = 0;
  virtual void Free(void* memory) noexcept = 0;
};

/// Pages are added by one thread at a time, and then read any number of times, by any number of threads at a time.
/// Nothing of a page is left when its store is gone, however the process ends: the file has no name. It is made for
/// the first page that memory has no room for.
///
/// Throws  InvalidArgument: the folder does not exist, cannot be written to or lies in memory (tmpfs)
///         Error: no room on disk; a page that cannot be read, is cut short, or is not what was written, with its
///         number and its offset in the file. A page that could not be added is not there, and others can be added
class PageStore {
 public:
  struct Options {
    std::size_t memory_bytes{0};           ///< of pages in memory at most; 0: all pages go to the file
    std::string folder;                    ///< of the file; empty: $TMPDIR, or /var/tmp without it
    std::shared_ptr<PageMemory> memory{};  ///< nullptr: ordinary memory
  };
  explicit PageStore(Options options);
  ~PageStore();
  PageStore(PageStore const&) = delete;
  PageStore& operator=(PageStore const&) = delete;

  /// Adds a page behind the others, in memory if it fits there. Returns its number.
  std::size_t Add(Span<std::uint8_t const> page);
  std::size_t pages() const;
  std::size_t bytes(std::size_t page) const;
  /// Returns the page where it lies in memory, or nullptr if it is in the file. Valid as long as the store.
  std::uint8_t const* InMemory(std::size_t page) const;
  /// Copies the page to `to` [bytes(page)]. A page in the file is checked against its checksum, and comes there
  /// directly if `to` is aligned to 4096 bytes, with one copy more if it is not.
  void Read(std::size_t page, std::uint8_t* to) const;

  std::size_t memory_bytes() const;  ///< of pages in memory
  std::size_t file_bytes() const;    ///< of the file, in which each page begins at a multiple of 4096
  int descriptor() const;            ///< of the file; -1: there is none yet. For tests

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_PAGE_PAGE_STORE_H_
