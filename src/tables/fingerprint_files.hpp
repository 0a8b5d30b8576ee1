// Temporary files of fingerprints, for core/pairs/spilled_pairs.hpp.
#pragma once

#include "server/pg.hpp"
#include "core/pairs/spilled_pairs.hpp"

namespace simhash {

// Files that live as long as the memory context, unless they are removed before. The functions
// raise the server's errors: of a full disk, of temp_file_limit, of a file that cannot be read. The
// core that calls them expects no status.
FingerprintFiles fingerprint_files(MemoryContext context);

} // namespace simhash
