/// A file without a name, in which a store keeps the pages that memory has no room for.
#ifndef XGBGPU_PAGE_PAGE_FILE_H_
#define XGBGPU_PAGE_PAGE_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "xgbgpu/span.h"

namespace xgbgpu {

/// Pages in the file begin at multiples of this, so that they are read and written without the system's cache of files.
constexpr std::size_t kFileBlock = 4096;

/// Returns `bytes` bytes at a multiple of kFileBlock for std::free, or nullptr if there are none left.
inline void* AllocateAligned(std::size_t bytes) {
  return std::aligned_alloc(kFileBlock, (bytes / kFileBlock + 1) * kFileBlock);
}

/// A page's place in the file.
struct PagePlace {
  std::size_t page{0};      ///< its number, for messages
  std::uint64_t offset{0};  ///< a multiple of kFileBlock
  std::size_t bytes{0};
  std::uint64_t end() const { return offset + (bytes + kFileBlock - 1) / kFileBlock * kFileBlock; }
};

/// It is gone when its owner is, however the process ends.
/// Throws  InvalidArgument: a folder in which it cannot be
///         Error: no room on disk, or a page that cannot be written or read, with its number and its offset
class PageFile {
 public:
  /// Makes it in `folder`, or, if that is empty, in $TMPDIR, or in /var/tmp without it. `other_advice` is what messages
  /// say to try beside another folder; it may be empty.
  PageFile(std::string const& folder, std::string other_advice);
  ~PageFile();
  PageFile(PageFile const&) = delete;
  PageFile& operator=(PageFile const&) = delete;

  /// Writes a page. Only one thread may write at a time.
  void Write(PagePlace const& place, std::uint8_t const* from);
  /// Reads a page. Any number of threads may read at a time. What is aligned to kFileBlock in `to` comes there directly.
  void Read(PagePlace const& place, std::uint8_t* to) const;

  std::string const& folder() const { return folder_; }
  int descriptor() const { return descriptor_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Workspace = std::unique_ptr<std::uint8_t, Free>;
  static Workspace MakeWorkspace(std::size_t bytes);

  [[noreturn]] void Refuse(std::string const& reason) const;
  void CheckFolder() const;
  void Open();
  void CheckLimit(PagePlace const& place) const;
  [[noreturn]] void FailToWrite(PagePlace const& place, int error) const;
  template <typename Io>
  long Transfer(Io&& io) const;
  void ReadAt(PagePlace const& place, std::uint64_t offset, std::uint8_t* to, std::size_t bytes) const;

  std::string origin_;  ///< who chose the folder, as the beginning of a sentence
  std::string folder_;
  std::string other_advice_;
  int descriptor_{-1};
  mutable std::atomic<bool> is_direct_{false};  ///< without the system's cache of files
  Workspace workspace_;                         ///< from which pages are written
};

}  // namespace xgbgpu

#endif  // XGBGPU_PAGE_PAGE_FILE_H_
