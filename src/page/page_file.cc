// Reads and writes pages in an unnamed file, without the system's file cache where possible.
#include "page/page_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/host_memory.h"
#include "base/message.h"

namespace xgbgpu {

namespace {

/// Size of the buffer for copies of unaligned pages.
constexpr std::size_t kWorkspaceBytes = std::size_t{4} << 20;

std::string Reason(int error) { return std::generic_category().message(error); }

}  // namespace

PageFile::PageFile(std::string const& folder, std::string other_advice)
    : origin_{"Parameter gpu_cache_folder is "}, folder_{folder}, other_advice_{std::move(other_advice)} {
  if (folder_.empty()) {
    char const* const tmpdir = std::getenv("TMPDIR");
    bool const has_tmpdir = tmpdir != nullptr && *tmpdir != '\0';
    origin_ = has_tmpdir ? "Without gpu_cache_folder pages go to the folder of TMPDIR, which is "
                         : "Without gpu_cache_folder and TMPDIR pages go to the folder ";
    folder_ = has_tmpdir ? tmpdir : "/var/tmp";
  }
  CheckFolder();
  workspace_ = MakeWorkspace(kWorkspaceBytes);
  Open();
}

PageFile::~PageFile() { close(descriptor_); }

PageFile::Workspace PageFile::MakeWorkspace(std::size_t bytes) {
  Workspace workspace{static_cast<std::uint8_t*>(AllocateAligned(bytes))};
  if (workspace == nullptr) throw OutOfHostMemory{bytes};
  return workspace;
}

void PageFile::Refuse(std::string const& reason) const {
  Throw<InvalidArgument>(origin_, QuotedName(folder_), ": ", reason,
                         "; allowed for gpu_cache_folder: a folder on a disk, in which this process can write");
}

void PageFile::CheckFolder() const {
  struct stat status {};
  if (stat(folder_.c_str(), &status) != 0) Refuse(Reason(errno));
  if (!S_ISDIR(status.st_mode)) Refuse("it is not a folder");
  struct statfs system {};
  if (statfs(folder_.c_str(), &system) != 0) Refuse(Reason(errno));
  if (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC) {
    Refuse("its files take memory (tmpfs), which pages are to save");
  }
}

void PageFile::Open() {
  descriptor_ = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
  if (descriptor_ < 0) {  // a file system may lack unnamed files
    std::string name = folder_ + "/xgboost-gpu-XXXXXX";
    descriptor_ = mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0) Refuse(Reason(errno));
    unlink(name.c_str());
  }
  is_direct_ = fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_DIRECT) == 0;
}

/// Calls io() again while it is interrupted. If a file system accepts O_DIRECT and then refuses to read or write,
/// repeats io() through the system's cache.
template <typename Io>
long PageFile::Transfer(Io&& io) const {
  for (;;) {
    bool const was_direct = is_direct_;
    long const done = io();
    if (done >= 0) return done;
    if (errno == EINVAL && was_direct) {
      fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_DIRECT);
      is_direct_ = false;
    } else if (errno != EINTR) {
      return done;
    }
  }
}

/// Throws for a write beyond the limit of file sizes: the write itself would raise a signal that ends the process.
void PageFile::CheckLimit(PagePlace const& place) const {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && place.end() > limit.rlim_cur) {
    FailToWrite(place, EFBIG);
  }
}

void PageFile::FailToWrite(PagePlace const& place, int error) const {
  auto const size = place.end() - place.offset;
  if (error == ENOSPC || error == EDQUOT) {
    struct statfs system {};
    bool const is_known = statfs(folder_.c_str(), &system) == 0;
    std::uint64_t const free = is_known ? std::uint64_t{system.f_bavail} * system.f_bsize : 0;
    Throw<Error>(origin_, QuotedName(folder_), ", which has no room: page ", place.page, " needs ", size,
                 " bytes beside the ", place.offset, " of the pages before it, and ", free, " bytes are free",
                 error == EDQUOT ? " (" + Reason(error) + ")" : "",
                 "; possible: gpu_cache_folder on a disk with more room", other_advice_);
  }
  Throw<Error>(origin_, QuotedName(folder_), ", where page ", place.page, " of ", size,
               " bytes cannot be written at offset ", place.offset, ": ", Reason(error),
               error == EFBIG ? " (is there a limit of the size of files, \"ulimit -f\"?)" : "",
               "; possible: another gpu_cache_folder", other_advice_);
}

void PageFile::Write(PagePlace const& place, std::uint8_t const* from) {
  CheckLimit(place);
  for (std::size_t copied = 0; copied < place.bytes; copied += kWorkspaceBytes) {
    std::size_t const bytes = std::min(place.bytes - copied, kWorkspaceBytes);
    std::size_t const padded = (bytes + kFileBlock - 1) / kFileBlock * kFileBlock;
    std::memcpy(workspace_.get(), from + copied, bytes);
    std::memset(workspace_.get() + bytes, 0, padded - bytes);
    for (std::size_t written = 0; written < padded;) {
      long const now = Transfer([&] {
        return pwrite(descriptor_, workspace_.get() + written, padded - written,
                      static_cast<off_t>(place.offset + copied + written));
      });
      if (now <= 0) FailToWrite(place, now == 0 ? ENOSPC : errno);
      written += static_cast<std::size_t>(now);
    }
  }
}

void PageFile::ReadAt(PagePlace const& place, std::uint64_t offset, std::uint8_t* to, std::size_t bytes) const {
  for (std::size_t done = 0; done < bytes;) {
    long const now =
        Transfer([&] { return pread(descriptor_, to + done, bytes - done, static_cast<off_t>(offset + done)); });
    if (now > 0) {
      done += static_cast<std::size_t>(now);
      continue;
    }
    std::string const reason = now < 0 ? Reason(errno) : "the file ends at offset " + std::to_string(offset + done);
    Throw<Error>(origin_, QuotedName(folder_), ", where page ", place.page, " of ", place.bytes,
                 " bytes cannot be read at offset ", place.offset, ": ", reason,
                 "; possible: another gpu_cache_folder, and training again");
  }
}

void PageFile::Read(PagePlace const& place, std::uint8_t* to) const {
  Workspace workspace;
  for (std::size_t done = 0; done < place.bytes;) {
    std::size_t const rest = place.bytes - done;
    bool const is_aligned = reinterpret_cast<std::uintptr_t>(to + done) % kFileBlock == 0;
    if (is_aligned && rest >= kFileBlock) {
      std::size_t const bytes = rest / kFileBlock * kFileBlock;
      ReadAt(place, place.offset + done, to + done, bytes);
      done += bytes;
      continue;
    }
    std::size_t const bytes = std::min(rest, kWorkspaceBytes);
    std::size_t const padded = (bytes + kFileBlock - 1) / kFileBlock * kFileBlock;
    if (workspace == nullptr) workspace = MakeWorkspace(padded);  // later pieces are not larger
    ReadAt(place, place.offset + done, workspace.get(), padded);
    std::memcpy(to + done, workspace.get(), bytes);
    done += bytes;
  }
}

}  // namespace xgbgpu
