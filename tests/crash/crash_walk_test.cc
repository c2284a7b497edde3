// The crash walks: one scripted workload of appends, flushes and a close, broken off at every single I/O operation of
// ours.
#include "tests/crash/seeds.h"
#include "tests/crash/walk.h"

namespace tsdb::engine {
namespace {

TEST(CrashWalk, EveryPowerCutLeavesAnExactPrefix) {
  std::uint64_t operations = 0;
  ASSERT_EQ(WalkPowerCuts(6, /*manifest_fails=*/false, &operations), "");
  EXPECT_GT(operations, 100u);
  TellCount("crash_points", operations);
  TellCount("power_cuts", operations * 8);
}

TEST(CrashWalk, EveryPowerCutAroundANewManifestLeavesAnExactPrefix) {
  std::uint64_t operations = 0;
  ASSERT_EQ(WalkPowerCuts(6, /*manifest_fails=*/true, &operations), "");
  EXPECT_GT(operations, 100u);
}

TEST(CrashWalk, WhatAnOpenAfterAKillShowsIsNotTakenAwayByAPowerCut) { ASSERT_EQ(WalkKills(), ""); }

TEST(CrashWalk, AKillInTheMiddleOfAnOpenIsRecoveredFromAsWell) { ASSERT_EQ(WalkKilledOpens(), ""); }

}  // namespace
}  // namespace tsdb::engine
