// Finds the memory context in which an aggregate keeps its state.
#pragma once

#include "server/pg.hpp"

namespace simhash {

// The memory context of the group's state. Raises an error where the function is not called as part
// of an aggregate.
inline MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
    MemoryContext context;
    // SQL may call a transition function that is not strict with NULL for the state. Then there is
    // no group, and no context that could keep one.
    if (AggCheckCallContext(fcinfo, &context) == 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("aggregate function called in non-aggregate context")));
    return context;
}

} // namespace simhash
