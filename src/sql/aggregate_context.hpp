// Where an aggregate keeps its state.
#pragma once

#include "pg.hpp"

namespace simhash {

// The memory that lives as long as the state of the group that this call is about.
inline MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
    MemoryContext context;
    if (AggCheckCallContext(fcinfo, &context) == 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("aggregate function called in non-aggregate context")));
    return context;
}

} // namespace simhash
