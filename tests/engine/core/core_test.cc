// Tests random numbers, hashes, fixed point, buffers, threads and error texts of core/ and base/.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/hash.h"
#include "base/host_memory.h"
#include "base/memory_text.h"
#include "base/parallel.h"
#include "base/quoted.h"
#include "base/stage_timer.h"
#include "core/fixed_point.h"
#include "core/random.h"
#include "core/search.h"
#include "core/work_sizes.h"
#include "gradient/gradient_ops.h"
#include "histogram/histogram_ops.h"
#include "reference/gradient.h"
#include "support/data.h"

namespace xgbgpu {
namespace {

// xxHash publishes these known answers, of bytes that its sanity check makes. Machines of one group compare hashes.
TEST(HashTest, KnownAnswers) {
  std::uint8_t bytes[2048];
  std::uint64_t state = 2654435761U;
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(state >> 56);
    state *= 11400714785074694797U;
  }
  constexpr std::pair<std::size_t, std::uint64_t> kAnswers[] = {
      {0, 0x2D06800538D394C2U},  {1, 0xC44BDFF4074EECDBU},   {6, 0x27B56A84CD2D7325U},   {48, 0x397DA259ECBA1F11U},
      {80, 0xBCDEFBBB2C47C90AU}, {195, 0xCD94217EE362EC3AU}, {512, 0x617E49599013CB6BU}, {2048, 0xDD59E2C3A5F038E0U}};
  for (auto const& [size, hash] : kAnswers) EXPECT_EQ(HashBytes(bytes, size), hash) << size << " bytes";
}

struct PhiloxVector {
  RandomBlock counter;
  std::uint32_t key[2];
  RandomBlock expected;
};

// Random123, the library of Philox's authors, publishes these known answers for philox4x32-10.
constexpr PhiloxVector kKnownAnswers[] = {
    {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
    {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
     {0xffffffff, 0xffffffff},
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
    {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
     {0xa4093822, 0x299f31d0},
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
};

TEST(PhiloxTest, KnownAnswers) {
  for (auto const& v : kKnownAnswers) {
    RandomBlock const block = Philox(v.counter, v.key[0], v.key[1]);
    auto const& c = v.counter.word;
    auto const reference = reference::Philox({c[0], c[1], c[2], c[3]}, {v.key[0], v.key[1]});
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(block.word[i], v.expected.word[i]);
      EXPECT_EQ(reference[i], v.expected.word[i]);
    }
  }
}

TEST(QuotedTest, PlainTextStays) {
  EXPECT_EQ(Quoted(""), "''");
  EXPECT_EQ(Quoted("gpu_hist \\ it's"), "'gpu_hist \\ it's'");
  EXPECT_EQ(Quoted("Zürich 東京 \U0001F600"), "'Zürich 東京 \U0001F600'");
}

TEST(QuotedTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(Quoted("a\nb\tc\rd"), "'a\\nb\\tc\\rd'");
  EXPECT_EQ(Quoted(std::string("\x1b[31m\0\x7f", 7)), "'\\x1b[31m\\x00\\x7f'");
  EXPECT_EQ(Quoted("\u009b1m"), "'\\xc2\\x9b1m'");       // another way to begin a terminal's command
  EXPECT_EQ(Quoted("a\u202eb"), "'a\\xe2\\x80\\xaeb'");  // the text goes on from right to left
}

TEST(QuotedTest, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(Quoted("\xff\xfe"), "'\\xff\\xfe'");
  EXPECT_EQ(Quoted("\xc3"), "'\\xc3'");                             // ends inside a character
  EXPECT_EQ(Quoted("\xc0\xafz"), "'\\xc0\\xafz'");                  // has more bytes than it needs
  EXPECT_EQ(Quoted("\xed\xa0\x80z"), "'\\xed\\xa0\\x80z'");         // half a pair of UTF-16
  EXPECT_EQ(Quoted("\xf4\x90\x80\x80"), "'\\xf4\\x90\\x80\\x80'");  // beyond the last character
}

TEST(QuotedTest, LongTextIsCutAtCharacters) {
  std::string const just = std::string(79, 'x') + "é";
  EXPECT_EQ(Quoted(just), "'" + just + "'");
  EXPECT_EQ(Quoted(just + "yz"), "'" + just + "… (83 bytes)'");
  EXPECT_EQ(QuotedName(std::string(4096, 'x')), "'" + std::string(4096, 'x') + "'");
  EXPECT_LT(QuotedName(std::string(1 << 20, 'x')).size(), 4200U);
}

TEST(QuotedTest, WhatIsEscapedStaysSo) {
  std::string const once = Quoted("a\x1b\n\xff");
  EXPECT_EQ(Escaped(once, 80), once);
  EXPECT_EQ(EscapedMessage("two\nlines\t\x1b"), "two\nlines\t\\x1b");
}

TEST(MemoryTextTest, BytesWithAndWithoutUnits) {
  constexpr std::uint64_t kKiB = 1024;
  std::pair<char const*, std::uint64_t> const cases[] = {
      {"0", 0},
      {"0.00 GiB", 0},
      {"1", 1},
      {"007B", 7},
      {"1000000000.0", 1000000000},
      {"1KB", 1000},
      {"500MB", 500000000},
      {"2GB", 2000000000},
      {"3TB", 3000000000000},
      {"1KiB", kKiB},
      {"16GiB", 16 * kKiB * kKiB * kKiB},
      {"1.5GiB", 3 * kKiB * kKiB * kKiB / 2},
      {"1.5 gib", 3 * kKiB * kKiB * kKiB / 2},
      {"2  mIb ", 2 * kKiB * kKiB},
      {"64M", 64 * kKiB * kKiB},
      {"64g", 64 * kKiB * kKiB * kKiB},
      {"1.5 k", 3 * kKiB / 2},
      {"3 Mi", 3 * kKiB * kKiB},
      {"2t ", 2 * kKiB * kKiB * kKiB * kKiB},
      {"0.001kb", 1},
      {"1.0009KB", 1000},
      {"1024TiB", kKiB * kKiB * kKiB * kKiB * kKiB},
      {"1125899906842623", 1125899906842623},
  };
  for (auto const& [text, bytes] : cases) EXPECT_EQ(TextToBytes(text), bytes) << text;
}

TEST(MemoryTextTest, OtherTextsAreNone) {
  std::string const cases[] = {"",
                               " ",
                               "-1",
                               "+1",
                               " 1",
                               "GiB",
                               ".5GiB",
                               "1.GiB",
                               "1.5.2",
                               "1e9",
                               "0x10",
                               "inf",
                               "nan",
                               "1GiBs",
                               "1Gib B",
                               "1 kk",
                               "1i",
                               "1P",
                               "1 G iB",
                               "1,5GiB",
                               "1iB",
                               "1bib",
                               "0.5",
                               "0.0001KB",
                               "1024.1TiB",
                               "0 what",
                               "1PB",
                               "1\tGiB",
                               "1Gib\n",
                               "16GiB 16GiB",
                               "99999999999999999999999999",
                               std::string{"1\0GiB", 5},
                               "1" + std::string(400, '0')};
  for (auto const& text : cases) EXPECT_EQ(TextToBytes(text), std::nullopt) << text;
}

TEST(TraceFileTest, IsJsonWhateverStagesAreCalled) {
  auto const path = std::filesystem::temp_directory_path() / ("trace" + std::to_string(::getpid()) + ".json");
  char const* const odd = "a\"b\\c\n\x01";
  {
    TraceFile file{path.string()};
    file.Add({odd, 2, 3, 1.0004, 2.0006, 4000});
    file.AddHostSpan(odd, 0);
  }
  std::ifstream written{path};
  auto const events = nlohmann::json::parse(written);  // throws if it is no JSON
  std::filesystem::remove(path);
  ASSERT_EQ(events.size(), 5U);  // two processes, a row, a stage, what the host did
  EXPECT_EQ(events[2]["args"]["name"], odd);
  auto const stage = nlohmann::json::parse(
      R"({"ph": "X", "pid": 1, "tid": 0, "ts": 1.0, "dur": 2.001,
          "args": {"tree": 2, "level": 3, "bytes": 4000, "GB/s": 1.999}})");
  for (auto const& [name, value] : stage.items()) EXPECT_EQ(events[3][name], value);
  EXPECT_EQ(events[3]["name"], odd);
  EXPECT_EQ(events[4]["name"], odd);
}

TEST(RandomStreamTest, WordIsPartOfItsBlock) {
  RandomStream const stream{0x123456789ABCDEF0U, RandomPurpose::kRowSample, 7, 3};
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(stream.Word(i), stream.Block(i / 4).word[i % 4]);
}

TEST(RandomStreamTest, EveryPartOfTheNameMatters) {
  std::vector<RandomStream> const streams{
      {1, RandomPurpose::kRounding, 0, 0},          {2, RandomPurpose::kRounding, 0, 0},
      {1ULL << 32, RandomPurpose::kRounding, 0, 0}, {1, RandomPurpose::kRowSample, 0, 0},
      {1, RandomPurpose::kFeaturesOfTree, 0, 0},    {1, RandomPurpose::kFeaturesOfLevel, 0, 0},
      {1, RandomPurpose::kFeaturesOfNode, 0, 0},    {1, RandomPurpose::kRounding, 1, 0},
      {1, RandomPurpose::kRounding, 0, 1},          {1, RandomPurpose::kFeaturesOfNode, 0, 1},
  };
  for (std::size_t a = 0; a < streams.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      // Two independent blocks of 128 bits are equal with a chance of 2^-128.
      RandomBlock const x = streams[a].Block(5), y = streams[b].Block(5);
      EXPECT_FALSE(std::equal(x.word, x.word + 4, y.word)) << a << " and " << b;
    }
  }
}

TEST(FixedPointTest, ScaleByPowerOfTwoIsExact) {
  for (int k = -300; k <= 300; ++k) EXPECT_EQ(ScaleByPowerOfTwo(1.7, k), std::ldexp(1.7, k)) << k;
  EXPECT_EQ(ScaleByPowerOfTwo(0x1p-1000, 2000), 0x1p1000);
  EXPECT_EQ(ScaleByPowerOfTwo(0x1p1000, -2000), 0x1p-1000);
}

TEST(FixedPointTest, RoundToNearestTiesToEven) {
  EXPECT_EQ(RoundToNearest(0.5f, 1.0), 0);
  EXPECT_EQ(RoundToNearest(1.5f, 1.0), 2);
  EXPECT_EQ(RoundToNearest(2.5f, 1.0), 2);
  EXPECT_EQ(RoundToNearest(-0.5f, 1.0), 0);
  EXPECT_EQ(RoundToNearest(-1.5f, 1.0), -2);
  EXPECT_EQ(RoundToNearest(-2.5f, 1.0), -2);
  EXPECT_EQ(RoundToNearest(0.0f, 0x1p194), 0);
}

TEST(FixedPointTest, RoundToNearestEqualsLongDouble) {
  testing::Random random{1};
  for (int i = 0; i < 100000; ++i) {
    float const v = random.Between(-1, 1);
    int const shift = static_cast<int>(random.Below(46));
    std::int64_t const expected = std::llrint(std::ldexp(static_cast<long double>(v), shift));
    ASSERT_EQ(RoundToNearest(v, std::ldexp(1.0, shift)), expected) << v << " shift " << shift;
  }
}

TEST(FixedPointTest, RoundToNearestReachesTheBoundOnly) {
  float const below_one = std::nextafter(1.0f, 0.0f);
  EXPECT_LT(RoundToNearest(below_one, 0x1p45), std::int64_t{1} << kWideBits);
  EXPECT_EQ(RoundToNearest(below_one, 0x1p20), 1 << 20);  // a float has 24 bits: rounded up to the bound itself
  EXPECT_EQ(RoundToNearest(-below_one, 0x1p20), -(1 << 20));
}

TEST(FixedPointTest, WideSumsOfAnyNumberOfRowsFit) {
  // Each of n rows is at the bound 2^w, w = min(45, 62 - ceil(log2 n)). The sum must stay below 2^63.
  for (int log = 0; log <= 32; ++log) {
    for (std::uint64_t n : {(std::uint64_t{1} << log), (std::uint64_t{1} << log) + 1}) {
      int const ceil_log = n == (std::uint64_t{1} << log) ? log : log + 1;
      int const w = std::min(kWideBits, 62 - ceil_log);
      EXPECT_LT(static_cast<__int128>(n) << w, static_cast<__int128>(1) << 63) << n;
    }
  }
}

TEST(FixedPointTest, RoundAtRandomHasTheDocumentedExpectation) {
  // The mean over all 2^16 equally likely draws is within 2^-17 of the value. The sums are exact in double.
  testing::Random random{2};
  std::vector<float> values{0.0f, 1.0f, -1.0f, 0.25f, -0.25f, 0x1p-17f, -0x1p-17f, 0x1p-30f, -0x1p-30f, 16383.999f};
  for (int i = 0; i < 40; ++i) values.push_back(random.Between(-16384, 16384));
  for (float v : values) {
    double sum = 0;
    for (std::uint32_t draw = 0; draw < 65536; ++draw) {
      std::int32_t const q = RoundAtRandom(v, MakeNarrowScale(0), draw);
      ASSERT_LE(std::fabs(q - static_cast<double>(v)), 1.0);
      sum += q;
    }
    EXPECT_LE(std::fabs(sum / 65536 - static_cast<double>(v)), 0x1p-17) << v;
  }
}

TEST(FixedPointTest, RoundAtRandomStaysInsideSixteenBits) {
  float const largest = std::nextafter(1.0f, 0.0f);
  for (std::uint32_t draw : {0U, 1U, 32767U, 65535U}) {
    EXPECT_LE(RoundAtRandom(largest, MakeNarrowScale(14), draw), 1 << kNarrowBits);
    EXPECT_GE(RoundAtRandom(-largest, MakeNarrowScale(14), draw), -(1 << kNarrowBits));
  }
}

TEST(FixedPointTest, RoundAtRandomIsTheFloorOfTheSum) {
  // The expected values are the formula in doubles, which are exact here, for largest values of any size.
  testing::Random random{5};
  for (int exponent : {-149, -140, -126, -100, -97, -96, -20, 0, 1, 60, 127, 128}) {
    int const shift = kNarrowBits - exponent;
    FloatScale const scale = MakeNarrowScale(shift);
    for (int i = 0; i < 20000; ++i) {
      double const size = i % 4 == 0 ? std::pow(2.0, -60 * random.Uniform()) : 1.0;
      auto const v = static_cast<float>(std::ldexp(random.Between(-1, 1) * size, exponent));
      if (std::fabs(std::ldexp(v, -exponent)) >= 1) continue;  // v was rounded up to the bound
      std::uint32_t const draw = i % 8 == 0 ? (i % 16 == 0 ? 0U : 65535U) : random.Below(65536);
      double const sum = std::ldexp(v, shift) + (draw + 0.5) / 65536;
      ASSERT_EQ(RoundAtRandom(v, scale, draw), std::floor(sum)) << v << " " << draw;
    }
  }
}

TEST(FixedPointTest, ExponentAboveIsTheSmallest) {
  std::vector<float> const values{1.0f,
                                  0.999f,
                                  2.0f,
                                  3.0f,
                                  std::numeric_limits<float>::max(),
                                  std::numeric_limits<float>::min(),
                                  std::numeric_limits<float>::denorm_min(),
                                  1e-40f};
  for (float v : values) {
    int const e = ExponentAbove(MagnitudeBits(-v));
    EXPECT_LT(static_cast<double>(v), std::ldexp(1.0, e)) << v;
    EXPECT_GE(static_cast<double>(v), std::ldexp(1.0, e - 1)) << v;
  }
}

TEST(PackedSumTest, UnpackUndoesPackAtTheExtremes) {
  // There are 2^16 rows of the largest narrow records, with all combinations of signs.
  for (int grad : {-(1 << kNarrowBits), -1, 0, 1, 1 << kNarrowBits}) {
    for (int hess : {-(1 << kNarrowBits), -1, 0, 1, 1 << kNarrowBits}) {
      NarrowGradient const g{static_cast<std::int16_t>(grad), static_cast<std::int16_t>(hess)};
      std::int64_t packed = 0;
      for (int row = 0; row < 1 << 16; ++row) packed += Pack(g);
      EXPECT_EQ(Unpack(packed), (GradientSum{std::int64_t{grad} * 65536, std::int64_t{hess} * 65536}));
    }
  }
}

TEST(BufferTest, ReserveGrowsAndNeverShrinks) {
  Buffer<std::int64_t> buffer{10};
  EXPECT_EQ(buffer.size(), 10U);
  EXPECT_EQ(buffer.bytes(), 80U);
  std::int64_t* const before = buffer.data();
  buffer.Reserve(5);
  EXPECT_EQ(buffer.data(), before);
  buffer.Reserve(11);
  EXPECT_EQ(buffer.size(), 11U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
  buffer[10] = 3;
  EXPECT_EQ(buffer.span().back(), 3);
}

TEST(BufferTest, MovesAndStartsEmpty) {
  Buffer<float> empty;
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(Buffer<float>{0}.data(), nullptr);
  Buffer<float> source{4};
  source[0] = 1.5f;
  Buffer<float> const target = std::move(source);
  EXPECT_EQ(target[0], 1.5f);
}

TEST(BufferTest, TooMuchIsBadAlloc) {
  if (XGBGPU_TESTS_SANITIZED) GTEST_SKIP() << "a sanitizer's allocator ends the process instead";
  EXPECT_THROW(Buffer<char>{std::numeric_limits<std::size_t>::max() / 2}, std::bad_alloc);
}

TEST(HostMemoryTest, TheInnermostPurposeIsTold) {
  HostStageTimer const timer;
  try {
    WithMemoryFor("trees", [&] { timer.Run("histograms", kNoLevel, [] { throw OutOfHostMemory{4096}; }); });
    FAIL() << "nothing was thrown";
  } catch (std::bad_alloc const& e) {  // code that goes on without memory need not know the type
    auto const& known = dynamic_cast<OutOfHostMemory const&>(e);
    EXPECT_EQ(known.bytes(), 4096U);
    EXPECT_STREQ(known.purpose(), "histograms");
  }
  EXPECT_EQ(WithMemoryFor("trees", [] { return 7; }), 7);
  EXPECT_EQ(OutOfHostMemory{1}.purpose(), nullptr);
}

TEST(SearchTest, FindsWhatTheStandardLibraryFinds) {
  for (std::uint32_t n = 0; n < 20; ++n) {
    std::vector<std::uint32_t> begins{0};  // ranges, some of them empty
    for (std::uint32_t i = 1; i < n; ++i) begins.push_back(begins.back() + i * 7 % 4);
    for (std::uint32_t item = 0; item < begins.back() + 2; ++item) {
      auto const after = std::upper_bound(begins.cbegin(), begins.cend(), item) - begins.cbegin();
      auto const begin = [&](std::uint32_t i) { return begins[i]; };
      EXPECT_EQ(RangeOf(n, item, begin), after - 1) << item << " in " << n;
      std::uint32_t const first = std::min(n, 2U);  // the search begins behind the first
      EXPECT_EQ(FirstWhere(first, n, [&](std::uint32_t i) { return begins[i] > item; }),
                std::max<std::ptrdiff_t>(first, std::min<std::ptrdiff_t>(after, n)));
    }
  }
}

TEST(SpanTest, ViewsVectorsAndParts) {
  std::vector<int> v{1, 2, 3, 4};
  Span<int> const all{v};
  all[1] = 7;
  Span<int const> const part = Span<int const>{all}.subspan(1, 2);
  EXPECT_EQ(part.front(), 7);
  EXPECT_EQ(part.back(), 3);
  EXPECT_EQ(part.size(), 2U);
  EXPECT_TRUE(Span<int>{}.empty());
}

class ParallelTest : public ::testing::TestWithParam<int> {};

TEST_P(ParallelTest, EveryTaskRunsOnceOnAThreadOfTheTeam) {
  int const threads = GetParam();
  for (std::size_t tasks : {0U, 1U, 2U, 1000U}) {
    std::vector<std::atomic<int>> runs(tasks);
    std::atomic<bool> known_thread{true};
    ParallelTasks(threads, tasks, [&](std::size_t task, int thread) {
      ++runs[task];
      if (thread < 0 || thread >= threads) known_thread = false;
    });
    for (auto const& r : runs) EXPECT_EQ(r, 1);
    EXPECT_TRUE(known_thread);
  }
}

TEST_P(ParallelTest, ChunksCoverTheRangeOnce) {
  std::vector<std::atomic<int>> runs(1003);
  ParallelChunks(GetParam(), runs.size(), 10, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ++runs[i];
  });
  for (auto const& r : runs) EXPECT_EQ(r, 1);
}

TEST_P(ParallelTest, AnExceptionComesOutUnchanged) {
  auto const run = [&] {
    ParallelTasks(GetParam(), 100, [](std::size_t task, int) {
      if (task == 41) throw std::out_of_range{"task 41"};
    });
  };
  EXPECT_EQ(testing::WhatIsWrong<std::out_of_range>(run, {"task 41"}), "");
}

TEST_P(ParallelTest, ChunksOfNewMemoryAreOfSeveralHugePages) {
  constexpr std::size_t kHugePage = std::size_t{1} << 21, kGiB = std::size_t{1} << 30;
  for (std::size_t const bytes : {std::size_t{1}, std::size_t{8}, std::size_t{512}}) {
    std::size_t const grain = GrainOfNewMemory(8 * kGiB / bytes, bytes, GetParam());
    EXPECT_EQ(grain * bytes, 8 * kHugePage);  // a page in eight is of two threads
    EXPECT_EQ(GrainOfNewMemory(1000, bytes, GetParam()) * bytes, std::size_t{1} << 19);
  }
  EXPECT_EQ(GrainOfNewMemory(1000, kGiB, GetParam()), 1U);
  EXPECT_EQ(GrainOfNewMemory(0, 8, GetParam()) * 8, std::size_t{1} << 19);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelTest, ::testing::Values(1, 2, 3, 7));

constexpr WorkSizes kSizes{3, 10500000, 28, 534773760};

TEST(WorkSizesTest, AnErrorOfADeviceNamesThem) {
  auto const fail = [] {
    NamingSizes([] { return kSizes; }, [] { Throw<DeviceError>("CUDA failed while thinking"); });
  };
  EXPECT_EQ(testing::WhatIsWrong<DeviceError>(fail, {"CUDA failed while thinking. ", "10500000 rows", "28 features",
                                                     "CUDA device 3", "534773760 bytes"}),
            "");
}

TEST(WorkSizesTest, MemoryThatIsNotKnownIsNotNamed) {
  WorkSizes sizes = kSizes;
  sizes.bytes = 0;
  std::string text;
  try {
    ThrowWithSizes(DeviceError{"CUDA failed"}, sizes);
  } catch (DeviceError const& e) {
    text = e.what();
  }
  EXPECT_EQ(text, "CUDA failed. Sizes: 10500000 rows, 28 features on CUDA device 3");
}

TEST(WorkSizesTest, OtherErrorsAndResultsPassUnchanged) {
  auto const no_sizes = []() -> WorkSizes {
    throw std::logic_error{"sizes are asked for after a device's error only"};
  };
  auto const text = [&](auto const& error) {
    try {
      NamingSizes(no_sizes, [&] { throw error; });
    } catch (std::decay_t<decltype(error)> const& e) {
      return std::string{e.what()};
    }
    return std::string{"nothing was thrown"};
  };
  EXPECT_EQ(text(OutOfDeviceMemory{"7 bytes are missing"}), "7 bytes are missing");
  EXPECT_EQ(text(InvalidArgument{"depth is -1"}), "depth is -1");
  int result = 5;
  EXPECT_EQ(&NamingSizes(no_sizes, [&]() -> int& { return result; }), &result);
}

}  // namespace
}  // namespace xgbgpu
