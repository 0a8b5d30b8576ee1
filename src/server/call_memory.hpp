// A memory context for a piece of work.
#pragma once

#include "server/pg.hpp"

namespace simhash {

// The current memory context as long as this lasts, which takes with it what functions leave
// behind: support functions a copy of a numeric with a short header or of a compressed text, the
// core all that its caller is to release at once. One statement may do that work for millions of
// rows. An error deletes the context with its parent.
class CallMemory {
  public:
    CallMemory()
        : memory_(AllocSetContextCreate(CurrentMemoryContext, "simhash call",
                                        ALLOCSET_START_SMALL_SIZES)),
          caller_(MemoryContextSwitchTo(memory_)) {}
    ~CallMemory() {
        MemoryContextSwitchTo(caller_);
        MemoryContextDelete(memory_);
    }
    CallMemory(const CallMemory&) = delete;
    CallMemory& operator=(const CallMemory&) = delete;

    MemoryContext caller() const { return caller_; } // for what is to stay

  private:
    MemoryContext memory_, caller_;
};

} // namespace simhash
