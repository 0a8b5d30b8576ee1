// Memory for calls of an operator class's support functions.
#pragma once

#include "server/pg.hpp"

namespace simhash {

// A memory context for the call of support functions, which may leave memory behind, such as a copy
// of a numeric with a short header, or a text that was stored compressed. The context is deleted
// after each row, as one statement may insert millions. An error deletes it together with its
// parent.
class CallMemory {
  public:
    CallMemory()
        : memory_(AllocSetContextCreate(CurrentMemoryContext, "simhash support functions",
                                        ALLOCSET_SMALL_SIZES)),
          caller_(MemoryContextSwitchTo(memory_)) {}
    ~CallMemory() {
        MemoryContextSwitchTo(caller_);
        MemoryContextDelete(memory_);
    }
    CallMemory(const CallMemory&) = delete;
    CallMemory& operator=(const CallMemory&) = delete;

  private:
    MemoryContext memory_, caller_;
};

} // namespace simhash
