// Finds XGBoost among the libraries of the process.
#include "bridge/xgboost_image.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <utility>

#include "base/quoted.h"
#include "bridge/error.h"

namespace xgbgpu::bridge {
namespace {

struct Library {
  std::string path;
  std::vector<Segment> segments;
};

std::vector<Library> LibrariesOfTheProcess() {
  std::vector<Library> libraries;
  auto const note = [](dl_phdr_info* info, std::size_t, void* out) {
    Library library{info->dlpi_name, {}};
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      auto const& header = info->dlpi_phdr[i];
      if (header.p_type != PT_LOAD) continue;
      std::uintptr_t const begin = info->dlpi_addr + header.p_vaddr;
      library.segments.push_back(
          {begin, begin + header.p_memsz, (header.p_flags & PF_R) != 0, (header.p_flags & PF_X) != 0});
    }
    static_cast<std::vector<Library>*>(out)->push_back(std::move(library));
    return 0;
  };
  dl_iterate_phdr(note, &libraries);
  return libraries;
}

/// Returns the library with this handle if it is an XGBoost, and else an image without a handle. A library that needs
/// an XGBoost finds XGBoostVersion, too, but does not have it.
XGBoostImage ImageOf(DlHandle handle, Library const& library) {
  void* const found = dlsym(handle.get(), "XGBoostVersion");
  XGBoostImage image{nullptr, library.path, {}, reinterpret_cast<std::uintptr_t>(found), library.segments};
  if (found == nullptr || !image.IsCode(image.version_function)) return image;
  reinterpret_cast<void (*)(int*, int*, int*)>(found)(&image.version[0], &image.version[1], &image.version[2]);
  image.handle = std::move(handle);
  return image;
}

DlHandle LoadedAs(char const* path) { return DlHandle{dlopen(path, RTLD_LAZY | RTLD_NOLOAD)}; }

}  // namespace

void DlCloser::operator()(void* handle) const { dlclose(handle); }

std::string XGBoostImage::Release() const { return Series() + '.' + std::to_string(version[2]); }

std::string XGBoostImage::Series() const { return std::to_string(version[0]) + '.' + std::to_string(version[1]); }

std::string XGBoostImage::Described() const { return "XGBoost " + Release() + " in " + QuotedName(path); }

bool XGBoostImage::IsReadable(std::uintptr_t address, std::size_t size) const {
  for (Segment const& part : segments) {
    if (part.is_readable && address >= part.begin && address < part.end) return size <= part.end - address;
  }
  return false;
}

bool XGBoostImage::IsCode(std::uintptr_t address) const {
  for (Segment const& part : segments) {
    if (part.is_executable && address >= part.begin && address < part.end) return true;
  }
  return false;
}

XGBoostImage FindXGBoost(char const* path) {
  std::vector<Library> const libraries = LibrariesOfTheProcess();
  if (path != nullptr) {
    DlHandle handle = LoadedAs(path);
    if (handle == nullptr) {
      throw BridgeError{"the process has no library " + QuotedName(path) +
                        "; allowed: a libxgboost that it has loaded"};
    }
    void* const version = dlsym(handle.get(), "XGBoostVersion");
    for (Library const& library : libraries) {
      XGBoostImage image{nullptr, {}, {}, 0, library.segments};
      if (version != nullptr && image.IsCode(reinterpret_cast<std::uintptr_t>(version))) {
        return ImageOf(std::move(handle), library);
      }
    }
    throw BridgeError{QuotedName(path) + " has no function XGBoostVersion; allowed: a libxgboost"};
  }
  std::vector<XGBoostImage> found;
  for (Library const& library : libraries) {
    if (library.path.empty()) continue;  // the program
    DlHandle handle = LoadedAs(library.path.c_str());
    if (handle == nullptr) continue;  // no file, and no library either
    XGBoostImage image = ImageOf(std::move(handle), library);
    if (image.handle != nullptr) found.push_back(std::move(image));
  }
  if (found.empty()) throw BridgeError{"no XGBoost is in the process; allowed: to load the bridge behind libxgboost"};
  if (found.size() > 1) {
    throw BridgeError{"the process has " + found[0].Described() + " and " + found[1].Described() +
                      "; allowed: one, or the name of the one that is meant"};
  }
  return std::move(found[0]);
}

void CheckCLibrary(char const* glibc) {
  constexpr char kAllowed[] = "; allowed: glibc 2.28 or newer, because older ones move absolute symbols";
  if (glibc == nullptr) throw BridgeError{std::string{"the C library is not glibc (musl, for instance)"} + kAllowed};
  char* end = nullptr;
  long const major = std::strtol(glibc, &end, 10);
  long const minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
  if (major < 2 || (major == 2 && minor < 28)) throw BridgeError{"the C library is glibc " + Quoted(glibc) + kAllowed};
}

}  // namespace xgbgpu::bridge
