// The part of the planner's side that the rest of the extension calls: the cost estimate.
#pragma once

#include "server/pg.hpp"

namespace simhash {

// The access method's callback (cost.cpp).
void index_cost_estimate(PlannerInfo* root, IndexPath* path, double loop_count, Cost* startup_cost,
                         Cost* total_cost, Selectivity* selectivity, double* correlation,
                         double* pages);

} // namespace simhash
