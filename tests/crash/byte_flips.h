// Byte flips: a small file of each of our kinds, every byte of it changed, read through its reader.
//
// Each function returns the first change that was neither reported nor is known to be harmless, or nothing.
#pragma once

#include <string>

namespace tsdb::engine {

/// Header, columns, directory and footer: everything is covered.
std::string FlipEveryByteOfAChunkFile();
std::string FlipEveryByteOfACatalogue();
/// Harmless: the seals, which only say that the frame before them is whole.
std::string FlipEveryByteOfAManifest();
std::string FlipEveryByteOfCurrent();
/// Harmless: the padding behind a frame.
std::string FlipEveryByteOfASegment();

}  // namespace tsdb::engine
