// SealingEnv: RocksDB's way to the files, with a seal of ours behind each table file.
//
// RocksDB checks every block of a table before it parses it, except those it opens a table with: the properties and the
// footer. Damage there makes it read wild offsets, ask for absurd amounts of memory or, when it was built with
// assertions, end the process. So behind the bytes of RocksDB each table (".sst", ".pending") ends in a seal with a
// checksum of its tail, which holds these blocks. RocksDB does not see the seal, and gets bytes of the tail only after
// they verified: damage is an IOStatus::Corruption. The seal is written before the sync of the table, so whoever has a
// whole table has its seal; nothing has to be kept in step. What lies before the tail is checked by RocksDB.
//
// Bytes of the seal: docs/format/index.md.
//
// Thread safety: as rocksdb::Env.
#pragma once

#include <rocksdb/env.h>

namespace tsdb::index {

/// Lives for the whole process.
rocksdb::Env* SealingEnv();

}  // namespace tsdb::index
