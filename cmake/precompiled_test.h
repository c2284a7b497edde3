// Precompiled for the tests: GoogleTest and what nearly every test file uses besides. It only saves time.
//
// Thread safety: nothing is declared here.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/precompiled.h"
