/// Keeps pages of bytes that do not fit the training's memory: in host memory, then in a file.
#ifndef XGBGPU_PAGE_PAGE_STORE_H_
#define XGBGPU_PAGE_PAGE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "xgbgpu/span.h"

namespace xgbgpu {

/// Host memory for pages. Pinned for devices, so that they copy it directly.
class PageMemory {
 public:
  virtual ~PageMemory() = default;
  /// Returns `bytes` bytes, or nullptr if memory is exhausted.
  virtual void* Allocate(std::size_t bytes) = 0;
  virtual void Free(void* memory) noexcept = 0;
};

/// A list of pages. One thread adds pages. Then any number of threads read them, any number of times. A store leaves
/// nothing behind, however the process ends: its file has no name. The first page that memory has no room for makes the
/// file.
///
/// Throws  InvalidArgument: the folder does not exist, cannot be written to or lies in memory (tmpfs)
///         Error: no room on disk; a page that cannot be read, is cut short, or differs from what was written, with its
///         number and its offset in the file. A page that could not be added leaves no trace, and more pages can be
///         added
class PageStore {
 public:
  struct Options {
    std::size_t memory_bytes{0};           ///< most bytes of pages in memory; 0: all pages go to the file
    std::string folder;                    ///< folder of the file; empty: $TMPDIR, or /var/tmp without it
    std::shared_ptr<PageMemory> memory{};  ///< nullptr: ordinary memory
  };
  explicit PageStore(Options options);
  ~PageStore();
  PageStore(PageStore const&) = delete;
  PageStore& operator=(PageStore const&) = delete;

  /// Appends a page, in memory if it fits there. Returns its number.
  std::size_t Add(Span<std::uint8_t const> page);
  std::size_t pages() const;
  std::size_t bytes(std::size_t page) const;
  /// Returns the page in memory, or nullptr if it is in the file. Valid as long as the store.
  std::uint8_t const* InMemory(std::size_t page) const;
  /// Copies the page to `to` [bytes(page)]. A page in the file is read directly if `to` is aligned to 4096 bytes,
  /// otherwise with one more copy. Its checksum is compared.
  void Read(std::size_t page, std::uint8_t* to) const;

  std::size_t memory_bytes() const;  ///< bytes of pages in memory
  std::size_t file_bytes() const;    ///< bytes of the file; each page begins at a multiple of 4096
  int descriptor() const;            ///< file descriptor, for tests; -1: no file

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_PAGE_PAGE_STORE_H_
