/// An unnamed file for the pages that do not fit memory.
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

/// Pages begin at multiples of this in the file, so that reads and writes bypass the system's file cache.
constexpr std::size_t kFileBlock = 4096;

/// Returns `bytes` bytes at a multiple of kFileBlock, to be freed by std::free, or nullptr if memory is exhausted.
inline void* AllocateAligned(std::size_t bytes) {
  return std::aligned_alloc(kFileBlock, (bytes / kFileBlock + 1) * kFileBlock);
}

/// The place of a page in the file.
struct PagePlace {
  std::size_t page{0};      ///< its number, for messages
  std::uint64_t offset{0};  ///< a multiple of kFileBlock
  std::size_t bytes{0};
  std::uint64_t end() const { return offset + (bytes + kFileBlock - 1) / kFileBlock * kFileBlock; }
};

/// The file disappears with its owner, however the process ends.
/// Throws  InvalidArgument: the file cannot be made in the folder
///         Error: no room on disk, or a page that cannot be written or read, with its number and its offset
class PageFile {
 public:
  /// Makes the file in `folder`, or, if that is empty, in $TMPDIR, or in /var/tmp without it. `other_advice` is a
  /// further remedy for messages, beside another folder; it may be empty.
  PageFile(std::string const& folder, std::string other_advice);
  ~PageFile();
  PageFile(PageFile const&) = delete;
  PageFile& operator=(PageFile const&) = delete;

  /// Writes a page. One thread at a time.
  void Write(PagePlace const& place, std::uint8_t const* from);
  /// Reads a page. Any number of threads at a time. Reads directly into `to` if it is aligned to kFileBlock.
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

  std::string origin_;  ///< chooser of the folder, as the beginning of a sentence
  std::string folder_;
  std::string other_advice_;
  int descriptor_{-1};
  mutable std::atomic<bool> is_direct_{false};  ///< bypasses the system's file cache
  Workspace workspace_;                         ///< buffer of writes
};

}  // namespace xgbgpu

#endif  // XGBGPU_PAGE_PAGE_FILE_H_
