// Looks at the libraries that call functions in front. docs/adr/0037-the-r-package.md
#include "xgb/caller.h"

#include <dlfcn.h>
#include <link.h>
#include <xgboost/c_api.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/quoted.h"
#include "xgb/last_error.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

namespace {

using VersionFunction = decltype(XGBoostVersion);

/// The addresses of code that has called. `why_not`: the reason why it is not served; empty: it is served.
struct Caller {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::string why_not;
  Caller const* next;
};

/// All callers, the newest first. No caller is ever freed.
std::atomic<Caller const*> callers{nullptr};

Caller const* Find(std::uintptr_t address) {
  Caller const* caller = callers.load(std::memory_order_acquire);
  while (caller != nullptr && (address < caller->begin || address >= caller->end)) caller = caller->next;
  return caller;
}

std::string FileOf(VersionFunction* function) {
  Dl_info where{};
  return dladdr(reinterpret_cast<void*>(function), &where) != 0 ? QuotedName(where.dli_fname) : "unknown";
}

/// Returns why a library is not served: the XGBoost that it has, or that it is linked to, is of another series.
std::string WhyNotServed(char const* library) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return {};
  auto* const theirs = reinterpret_cast<VersionFunction*>(dlsym(handle, "XGBoostVersion"));
  dlclose(handle);
  if (theirs == nullptr || theirs == &XGBoostVersion || IsOfBuiltSeries(theirs)) return {};
  return "xgboost-gpu works in XGBoost " + RunningVersion() + " of " + FileOf(&XGBoostVersion) + ", and " +
         QuotedName(library) + " calls it, whose XGBoost is " + VersionOf(theirs) + " of " + FileOf(theirs) +
         "; allowed: a caller whose XGBoost is of series " + BuiltSeries();
}

/// The segment of a library with an address. Code made by a compiler in the process is in no library: the segment is
/// then the address alone. The path is empty for such code and for the program.
struct Code {
  std::uintptr_t address;
  std::uintptr_t begin{address};
  std::uintptr_t end{address + 1};
  std::string library{};
};

Code FindCode(std::uintptr_t address) {
  Code code{address};
  auto const look = [](dl_phdr_info* info, std::size_t, void* out) {
    auto* const found = static_cast<Code*>(out);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      std::uintptr_t const begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      std::uintptr_t const end = begin + info->dlpi_phdr[i].p_memsz;
      if (info->dlpi_phdr[i].p_type != PT_LOAD || found->address < begin || found->address >= end) continue;
      *found = {found->address, begin, end, info->dlpi_name};
      return 1;
    }
    return 0;
  };
  dl_iterate_phdr(look, &code);
  return code;
}

/// Adds a caller. Without a lock, because a thread may come here from within the loader. The program is served: it
/// finds functions where this library does.
Caller const* Add(Code const& code) {
  auto* const caller = new Caller{code.begin, code.end, {}, nullptr};
  if (!code.library.empty()) caller->why_not = WhyNotServed(code.library.c_str());
  caller->next = callers.load(std::memory_order_relaxed);
  while (!callers.compare_exchange_weak(caller->next, caller, std::memory_order_release, std::memory_order_relaxed)) {
  }
  if (!caller->why_not.empty()) std::fprintf(stderr, "%s.\n", caller->why_not.c_str());
  return caller;
}

}  // namespace

bool IsServed(void const* caller) {
  if (!WhyNotRegistered().empty()) return true;  // functions in front do nothing
  auto const address = reinterpret_cast<std::uintptr_t>(caller);
  Caller const* known = Find(address);
  if (known == nullptr) known = Add(FindCode(address));
  if (known->why_not.empty()) return true;
  Fail(known->why_not);
  return false;
}

}  // namespace xgbgpu::plugin
