// Where this backend last found leaves of indexes in shared memory.
//
// In an index that is far larger than the processor's caches, most of a probe's time is waiting for
// memory: for the server's table of buffers, the buffer's descriptor, the page's two ends, and what
// is searched in it. Knowing the buffer saves the first, and lets the others be asked for ahead.
#pragma once

#include "index/index.hpp"

namespace simhash {

// Has a leaf that will be read soon brought nearer: from disk into memory; or, if it is there, what
// a search of it reads into the processor's cache, the keys between two fractions (0 to 1) of its
// range. Reads nothing itself.
void fetch_leaf_ahead(Relation index, BlockNumber block, double from, double to);
// Pins the leaf if it still is in the buffer where this backend last found it; else InvalidBuffer.
Buffer pin_recent_leaf(Relation index, BlockNumber block);
// Notes where a leaf is, and how its keys are laid out.
void note_recent_leaf(Relation index, Buffer buffer, const LeafReader& reader);

} // namespace simhash
