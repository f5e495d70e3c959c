// Tests how an XGBoost is found in a process.
#include "bridge/xgboost_image.h"

#include "fakes.h"

namespace xgbgpu::bridge {
namespace {

TEST(FindXGBoost, WithoutAnyItSaysSo) {
  EXPECT_EQ(ErrorOf([] { FindXGBoost(nullptr); }),
            "no XGBoost is in the process; allowed: to load the bridge behind libxgboost");
  EXPECT_EQ(ErrorOf([] { FindXGBoost(Fake("xgboost").c_str()); }),
            "the process has no library '" + Fake("xgboost") + "'; allowed: a libxgboost that it has loaded");
  EXPECT_EQ(ErrorOf([] { FindXGBoost("libc.so.6"); }),
            "'libc.so.6' has no function XGBoostVersion; allowed: a libxgboost");
}

TEST(FindXGBoost, FindsTheOnlyOneAndReadsItsVersion) {
  DlHandle const loaded = Open(Fake("xgboost"));
  for (XGBoostImage const& image :
       {FindXGBoost(nullptr), FindXGBoost(Fake("xgboost").c_str()), FindXGBoost("libfake_xgboost.so")}) {
    EXPECT_EQ(image.handle, loaded);
    EXPECT_EQ(image.path, Fake("xgboost"));
    EXPECT_EQ(image.Release(), "3.4.9");
    EXPECT_EQ(image.Series(), "3.4");
    EXPECT_EQ(image.Described(), "XGBoost 3.4.9 in '" + Fake("xgboost") + "'");
    EXPECT_EQ(image.version_function, reinterpret_cast<std::uintptr_t>(dlsym(loaded.get(), "XGBoostVersion")));
  }
}

TEST(FindXGBoost, SeveralNeedAName) {
  DlHandle const loaded = Open(Fake("xgboost"));
  DlHandle const other = Open(Fake("other"));
  std::string const why = ErrorOf([] { FindXGBoost(nullptr); });
  EXPECT_NE(why.find("XGBoost 3.4.9 in"), std::string::npos) << why;
  EXPECT_NE(why.find("XGBoost 3.2.9 in"), std::string::npos) << why;
  EXPECT_EQ(FindXGBoost(Fake("other").c_str()).Series(), "3.2");
}

TEST(FindXGBoost, ItsMemoryIsKnown) {
  DlHandle const loaded = Open(Fake("xgboost"));
  XGBoostImage const image = FindXGBoost(nullptr);
  EXPECT_TRUE(image.IsCode(image.version_function));
  EXPECT_TRUE(image.IsReadable(image.version_function, 8));
  EXPECT_FALSE(image.IsCode(reinterpret_cast<std::uintptr_t>(&image)));
  EXPECT_FALSE(image.IsReadable(reinterpret_cast<std::uintptr_t>(&image), 1));
  EXPECT_FALSE(image.IsReadable(0, 1));
  Segment const last = image.segments.back();
  EXPECT_TRUE(image.IsReadable(last.end - 8, 8));
  EXPECT_FALSE(image.IsReadable(last.end - 7, 8));
  EXPECT_FALSE(image.IsReadable(last.end - 8, static_cast<std::size_t>(-1)));
}

TEST(CheckCLibrary, AllowsGlibcThatKeepsAbsoluteSymbols) {
  for (char const* version : {"2.28", "2.36", "2.100", "3.0"}) EXPECT_NO_THROW(CheckCLibrary(version)) << version;
  for (char const* version : {"2.27", "2.2", "1.99", "", "x"})
    EXPECT_THROW(CheckCLibrary(version), BridgeError) << version;
  EXPECT_EQ(ErrorOf([] { CheckCLibrary("2.17"); }),
            "the C library is glibc '2.17'; allowed: glibc 2.28 or newer, because older ones move absolute symbols");
  EXPECT_EQ(
      ErrorOf([] { CheckCLibrary(nullptr); }),
      "the C library is not glibc (musl, for instance); allowed: glibc 2.28 or newer, because older ones move absolute "
      "symbols");
}

}  // namespace
}  // namespace xgbgpu::bridge
