// Makes the user's cache folder.
#include "bridge/cache_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace xgbgpu::bridge {

std::string CacheFolder() {
  char const* const cache = std::getenv("XDG_CACHE_HOME");
  char const* const home = std::getenv("HOME");
  std::string folder;
  if (cache != nullptr && cache[0] == '/') {  // others are to be ignored. From  XDG Base Directory Specification 0.8
    folder = cache;
  } else if (home != nullptr && home[0] == '/') {
    folder = std::string{home} + "/.cache";
  } else {
    return {};
  }
  mkdir(folder.c_str(), 0700);
  folder += "/xgboost-gpu";
  mkdir(folder.c_str(), 0700);
  struct stat status {};
  bool const is_ours = lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
                       (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return is_ours ? folder : std::string{};
}

}  // namespace xgbgpu::bridge
