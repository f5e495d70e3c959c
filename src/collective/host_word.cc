// Maps a shared word of all processes of this host.
#include "collective/host_word.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace xgbgpu {

HostWord::HostWord(std::string const& name) : path_{"/dev/shm/" + name} {
  int const file = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file < 0) return;
  // The first process makes the memory large enough, which also makes it 0.
  void* const memory = ftruncate(file, sizeof(own_)) == 0
                           ? mmap(nullptr, sizeof(own_), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                           : MAP_FAILED;
  close(file);
  if (memory != MAP_FAILED) word_ = static_cast<std::uint32_t*>(memory);
}

HostWord::~HostWord() {
  if (word_ != &own_) munmap(word_, sizeof(own_));
}

void HostWord::CloseName() { unlink(path_.c_str()); }

}  // namespace xgbgpu
