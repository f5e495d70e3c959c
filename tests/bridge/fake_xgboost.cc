// A small libxgboost: functions of the C interface that are visible, and C++ names that are not.
#include <cstring>
#include <string>

namespace xgboost {

struct Context {
  Context();
  unsigned char bytes[40];
  unsigned char never_written[24];
};

Context::Context() {
  std::memset(bytes, 0, sizeof(bytes));
  std::memset(bytes, 1, sizeof(bytes) / 2);
}

class Booster {
 public:
  virtual ~Booster();
  virtual int First(std::string const& text);
  virtual int Second();
};

Booster::~Booster() = default;
int Booster::First(std::string const& text) { return static_cast<int>(text.size()); }
int Booster::Second() { return 2; }

/// A thread's own: its symbol's value is no address.
thread_local int calls = 7;

}  // namespace xgboost

extern "C" {

__attribute__((visibility("default"))) void XGBoostVersion(int* major, int* minor, int* patch) {
  *major = FAKE_MAJOR;
  *minor = FAKE_MINOR;
  *patch = 9;
}

#ifdef FAKE_MOVED  // what follows is elsewhere
__attribute__((visibility("default"))) int XGBAnother(int number) { return number * number + 1; }
#endif

__attribute__((visibility("default"))) char const* XGBGetLastError() {
  static xgboost::Context const context;
  static xgboost::Booster booster;
  xgboost::calls += booster.Second();
  return context.bytes[0] == 1 && booster.First("") == 0 ? "none" : "";
}
}
