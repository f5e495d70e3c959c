/// Long arrays on their way to a device and back, and the pinned memory that is lent for it.
#include "cuda/long_copies.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "cuda/device.h"
#include "cuda/pinned_pieces.h"
#include "support/grow.h"

namespace xgbgpu {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class LongCopiesTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_F(LongCopiesTest, EveryLengthComesThereAndBack) {
  DeviceArena arena{"Copying"};
  Stream const stream;
  for (std::size_t const bytes :
       {std::size_t{0}, std::size_t{1}, 4 * kMiB - 1, 4 * kMiB, 4 * kMiB + 1, 37 * kMiB + 5}) {
    for (int const threads : {1, 3, 32}) {
      std::vector<std::uint8_t> from(bytes);
      std::iota(from.begin(), from.end(), static_cast<std::uint8_t>(threads));
      for (std::size_t i = 0; i < bytes; i += 4093) from[i] = static_cast<std::uint8_t>(i >> 12);  // no period of 256
      DeviceBuffer<std::uint8_t> device{&arena, "bytes", bytes};
      std::vector<std::uint8_t> back(bytes, 0xa5);
      CopyLongToDevice(device.data(), from.data(), bytes, threads, stream, "testing");
      CopyLongToHost(back.data(), device.data(), bytes, threads, stream, "testing");
      EXPECT_EQ(back, from) << bytes << " bytes, " << threads << " threads";
    }
  }
}

TEST_F(LongCopiesTest, AreInTheOrderOfTheirStream) {
  DeviceArena arena{"Copying"};
  Stream const stream;
  std::size_t const bytes = 64 * kMiB;
  DeviceBuffer<std::uint8_t> device{&arena, "bytes", bytes};
  std::vector<std::uint8_t> const ones(bytes, 1);
  std::vector<std::uint8_t> back(bytes);
  for (int turn = 0; turn < 5; ++turn) {
    FillBytes(device.data(), 7, bytes, stream, "testing");
    CopyLongToHost(back.data(), device.data(), bytes, 8, stream, "testing");
    EXPECT_EQ(back, std::vector<std::uint8_t>(bytes, 7));
    CopyLongToDevice(device.data(), ones.data(), bytes, 8, stream, "testing");
    FillBytes(device.data(), 9, 1, stream, "testing");
    CopyLongToHost(back.data(), device.data(), bytes, 8, stream, "testing");
    EXPECT_EQ(back[0], 9);
    EXPECT_EQ(back[bytes - 1], 1);
  }
}

TEST_F(LongCopiesTest, APinnedPieceIsLentAgain) {
  std::uint8_t* first = nullptr;
  {
    PinnedPiece const piece{3 * kMiB};
    EXPECT_GE(piece.bytes(), 3 * kMiB);
    first = piece.data();
    PinnedPiece const other{3 * kMiB};
    EXPECT_NE(other.data(), first);
  }
  PinnedPiece const again{3 * kMiB}, also{3 * kMiB};
  EXPECT_TRUE(again.data() == first || also.data() == first);
  PinnedPiece const small{1};
  EXPECT_LT(small.bytes(), kMiB) << "a large piece was lent for a byte";
}

TEST_F(LongCopiesTest, NewPinnedPiecesAreKeptInPlaceOfOldOnes) {
  {
    std::vector<PinnedPiece> pieces(20);
    for (PinnedPiece& piece : pieces) piece = PinnedPiece{8 * kMiB};
  }  // 160 MiB
  std::uint8_t* given = nullptr;
  {
    PinnedPiece const piece{kMiB};
    given = piece.data();
  }
  PinnedPiece const again{kMiB};
  EXPECT_EQ(again.data(), given);
}

}  // namespace
}  // namespace xgbgpu
