// The states of aggregates, in the memory of their group.
#pragma once

#include "server/pg.hpp"

#include <new>

namespace simhash {

// The memory context of the group's state. Raises an error outside of an aggregate.
inline MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
    MemoryContext context;
    // SQL may call a transition function that is not strict with NULL for the state. Then there is
    // no group, and no context that could keep one.
    if (AggCheckCallContext(fcinfo, &context) == 0)
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("aggregate function called in non-aggregate context"));
    return context;
}

// A state that is made of `given` with the context as the current one.
template <typename State, typename... Given>
State* new_state(MemoryContext context, const Given&... given) {
    MemoryContext caller = MemoryContextSwitchTo(context);
    auto* state = new (palloc(sizeof(State))) State{given...};
    MemoryContextSwitchTo(caller);
    return state;
}

template <typename State>
State* state_argument(FunctionCallInfo fcinfo, int argument) {
    return reinterpret_cast<State*>(PG_GETARG_POINTER(argument));
}

// The state to which a transition or combine function adds. It lives from row to row.
template <typename State>
State* group_state(FunctionCallInfo fcinfo) {
    MemoryContext context = aggregate_context(fcinfo);
    return PG_ARGISNULL(0) ? new_state<State>(context) : state_argument<State>(fcinfo, 0);
}

} // namespace simhash
