// Tests which names are XGBoost's, where they are found, and why some are missing.
#include "bridge/names.h"

#include "bridge/mapped_file.h"
#include "fakes.h"

namespace xgbgpu::bridge {
namespace {

char const kFirst[] = "_ZN7xgboost7Booster5FirstERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";

/// An XGBoost in the process, and its file.
struct Opened {
  explicit Opened(std::string const& name)
      : loaded{Open(Fake(name))}, mapped{Fake(name)}, file{mapped.bytes(), Fake(name)}, image{FindXGBoost(nullptr)} {}
  DlHandle loaded;
  MappedFile mapped;
  ElfFile file;
  XGBoostImage image;
};

TEST(Names, OnesOfTheStandardLibraryAreNotXGBoosts) {
  for (char const* name : {kFirst, "_ZTVN7xgboost4JsonE", "_ZN4dmlc5ErrorD1Ev", "XGBoosterCreate", "RabitInit",
                           "_ZNSt6vectorIN7xgboost4JsonESaIS1_EE5clearEv"}) {
    EXPECT_TRUE(IsOfXGBoost(name)) << name;
  }
  for (char const* name : {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm",
                           "_ZN6xgbgpu5Error3getEv", "XGBGPURegister", "7xgboost", "GOMP_parallel", "memcpy", ""}) {
    EXPECT_FALSE(IsOfXGBoost(name)) << name;
  }
  EXPECT_TRUE(IsOfOpenMP("GOMP_parallel"));
  EXPECT_TRUE(IsOfOpenMP("omp_get_num_threads"));
  EXPECT_FALSE(IsOfOpenMP("compare"));
}

TEST(Names, HiddenOnesHaveTheirAddresses) {
  Opened const xgboost{"xgboost"};
  Addresses const found =
      FindNames(xgboost.file, xgboost.image, {"XGBGetLastError", "_ZN7xgboost7ContextC2Ev", "_Znothing"});
  EXPECT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("XGBGetLastError"),
            reinterpret_cast<std::uint64_t>(dlsym(xgboost.loaded.get(), "XGBGetLastError")));
  struct {
    unsigned char bytes[64];
  } context{};
  reinterpret_cast<void (*)(void*)>(found.at("_ZN7xgboost7ContextC2Ev"))(&context);
  EXPECT_EQ(context.bytes[0], 1);
}

TEST(Names, AFileThatWasReplacedIsNoticed) {
  DlHandle const loaded = Open(Fake("xgboost"));
  XGBoostImage const image = FindXGBoost(nullptr);
  std::string bytes{MappedFile{Fake("xgboost")}.bytes()};
  for (std::size_t at = 0; (at = bytes.find("XGBoostVersion", at)) != std::string::npos; ++at)
    bytes.replace(at, 3, "XGC");
  EXPECT_NE(ErrorOf([&] {
              FindNames(ElfFile{bytes, "file"}, image, {});
            }).find("without the name XGBoostVersion"),
            std::string::npos);
  MappedFile const other{Fake("moved")};
  EXPECT_NE(ErrorOf([&] {
              FindNames(ElfFile{other.bytes(), "file"}, image, {});
            }).find("was loaded from another file than the one that is there now: 'XGB"),
            std::string::npos);
}

TEST(Names, MissingOnesAreListed) {
  Opened const xgboost{"xgboost"};
  EXPECT_NO_THROW(CheckMissing(xgboost.file, xgboost.image, {}));
  EXPECT_EQ(ErrorOf([&] {
              CheckMissing(xgboost.file, xgboost.image, {"XGa", "_ZN7xgboost4JsonC1Ev", "XGb", "XGc", "XGd"});
            }),
            xgboost.image.Described() +
                " lacks 5 names that the adapter needs: 'XGa', 'XGb', 'XGc' and 2 more; allowed: an "
                "XGBoost that has them all");
  EXPECT_EQ(FirstNames({"_ZN7xgboost4JsonC1Ev"}), "'xgboost::Json::Json()'");
}

TEST(Names, AStrippedXGBoostIsNamedSo) {
  Opened const xgboost{"stripped"};
  EXPECT_EQ(ErrorOf([&] { CheckMissing(xgboost.file, xgboost.image, {"_ZN7xgboost7ContextC2Ev"}); }),
            xgboost.image.Described() +
                " hides its C++ names and was stripped: it lacks 'xgboost::Context::Context()'; "
                "allowed: one that was not stripped, as PyPI's wheels, or that shows its names, as "
                "Debian's");
}

TEST(Names, TheOldStringIsNamedSo) {
  {
    Opened const xgboost{"old_string"};
    EXPECT_EQ(ErrorOf([&] { CheckString(xgboost.file, xgboost.image); }),
              xgboost.image.Described() +
                  " was compiled with the old std::string (_GLIBCXX_USE_CXX11_ABI=0); allowed: one with "
                  "the new std::string, as PyPI's wheels from 3.0 on");
  }
  for (char const* name : {"xgboost", "stripped"}) {
    Opened const xgboost{name};
    EXPECT_NO_THROW(CheckString(xgboost.file, xgboost.image)) << name;
  }
}

}  // namespace
}  // namespace xgbgpu::bridge
