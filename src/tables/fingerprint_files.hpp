// Temporary files of fingerprints, for core/pairs/spilled_pairs.hpp. They count for
// temp_file_limit, and are removed when the statement ends or fails.
#pragma once

#include "server/pg.hpp"
#include "core/pairs/spilled_pairs.hpp"

namespace simhash {

// A file is made in the current memory context.
// The functions raise the server's errors: of a full disk, of temp_file_limit, of a file that
// cannot be read. The core that calls them expects no status.
FingerprintFiles temporary_files();

} // namespace simhash
