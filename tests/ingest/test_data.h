// Files of tests/ingest/data.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace tsdb::ingest_test {

inline std::string ReadData(const std::string& name) {
  std::ifstream in(std::string(TSDB_TEST_SOURCE_DIR) + "/ingest/data/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace tsdb::ingest_test
