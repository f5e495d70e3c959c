// A small adapter: it uses a hidden class, a C function and the OpenMP runtime of its XGBoost. XGBGPU_SMALL_ADAPTER tells it
// how to behave: "refuse", "differ" or "crash" when it is loaded, "no training" when gpu_hist is asked for.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace xgboost {

class Context {
 public:
  Context();

 private:
  unsigned char bytes_[8192];  // enough for every series
};

}  // namespace xgboost

namespace {

#define SMALL_EXPORT __attribute__((visibility("default")))

bool Is(char const* behaviour) {
  char const* const wanted = std::getenv("XGBGPU_SMALL_ADAPTER");
  return wanted != nullptr && std::strcmp(wanted, behaviour) == 0;
}

int threads = 0;

void CountThread(void*) { __sync_fetch_and_add(&threads, 1); }

}  // namespace

extern "C" {

void XGBoostVersion(int* major, int* minor, int* patch);
void GOMP_parallel(void (*)(void*), void*, unsigned, unsigned);
int omp_get_num_procs();

SMALL_EXPORT int XGBGPUSelfTest() { return Is("differ") ? -1 : 0; }

SMALL_EXPORT int XGBGPURegister() {
  if (Is("crash")) std::abort();
  static xgboost::Context const context;
  GOMP_parallel(CountThread, nullptr, 2, 0);
  return Is("refuse") || threads != 2 || omp_get_num_procs() < 1 ? -1 : 0;
}

SMALL_EXPORT char const* XGBGPUAdapterError() { return "the small adapter says no"; }

/// The version of the XGBoost that the dynamic linker has bound: 304 for 3.4.
SMALL_EXPORT int SmallAdapterSeries() {
  int major = 0;
  int minor = 0;
  XGBoostVersion(&major, &minor, nullptr);
  return 100 * major + minor;
}

/// In front of XGBoost's: gpu_hist is its hist.
SMALL_EXPORT int XGBoosterSetParam(void* booster, char const* name, char const* value) {
  Dl_info where{};
  dladdr(reinterpret_cast<void const*>(&XGBoostVersion), &where);
  void* const xgboost = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  auto* const next = reinterpret_cast<int (*)(void*, char const*, char const*)>(dlsym(xgboost, "XGBoosterSetParam"));
  if (Is("no training")) return next(booster, name, value);
  if (std::strcmp(name, "gpu_backend") == 0) return 0;
  return next(booster, name, std::strcmp(value, "gpu_hist") == 0 ? "hist" : value);
}
}
