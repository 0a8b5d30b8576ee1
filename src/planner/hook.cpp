// Our hook in the planner, beside those of other libraries. README.md here says why there is one.
//
// Planning a distance installs the hook, and installs it again where another library has taken it:
// some, such as Citus, set the hook without calling the one that they find, and the condition would
// become a sequential scan in silence. We remember every hook that we find in our place and call
// it. If that one calls the hook that it found, which may be ours, we are called from within for
// the same table, and go on with the hook that we found before. So each hook has its turn once, and
// no chain is endless, even where another library also takes the hook back.
//
// If another library takes the hook between the simplification of a query and the opening of its
// tables, that query is not rewritten.
#include "planner/planner.hpp"

#include <algorithm>

namespace simhash {
namespace {

// More libraries with a hook there are not expected; beyond, the one found first is forgotten.
constexpr int kMostOthers = 16;

// The hooks that were found in the place of ours, the latest last.
TableHook others[kMostOthers];
int other_count = 0;

// The table for which the hook is being called, and how many of the others are still to be called.
// There is one at a time: the planner opens tables one after another, and an outer one is kept in
// call_others().
struct Opening {
    const RelOptInfo* relation;
    int others_left;
};
Opening opening = {nullptr, 0};

void add_other(TableHook other) {
    // A hook that was found before moves to the end: its library was the last to take our place.
    auto* end = std::remove(others, others + other_count, other);
    if (end == others + kMostOthers)
        end = std::move(others + 1, end, others);
    *end++ = other;
    other_count = int(end - others);
}

void call_next_other(const OpenedTable& table) {
    if (opening.others_left > 0)
        table.hand_to(others[--opening.others_left]);
}

void call_others(const OpenedTable& table) {
    // Another hook may plan queries of its own, for whose tables we are called meanwhile.
    Opening outer = opening;
    opening = {table.relation, other_count};
    PG_TRY();
    { call_next_other(table); }
    PG_FINALLY();
    // Also after an error, which would leave a pointer to a table of a query that is gone.
    { opening = outer; }
    PG_END_TRY();
}

void rewrite_on_opening(const OpenedTable& table) {
    // Another hook, which we are calling for this table, has called us in its turn.
    if (opening.relation == table.relation) {
        call_next_other(table);
        return;
    }
    // The others come first: they may add to the list of indexes (as hypopg does), and we rewrite
    // the predicates of all.
    call_others(table);
    PlannerInfo* root = table.root;
    RelOptInfo* relation = table.relation;
    if (!table.is_table())
        return;
    // Utility commands, such as CLUSTER and CREATE INDEX, make planner data without a query in it.
    if (root->parse == nullptr || root->parse->jointree == nullptr)
        return;
    rewrite_index_predicates(root, relation);
    // The conditions of the query are rewritten while they are still in its join tree; after the
    // first table nothing is left to rewrite. A member of a UNION ALL is opened later, when they
    // have been distributed.
    if (relation->reloptkind != RELOPT_OTHER_MEMBER_REL)
        rewrite_query_conditions(root);
}

} // namespace

void install_rewriting() {
    constexpr TableHook kOurs = kTableHookTo<rewrite_on_opening>;
    if (table_hook() == kOurs)
        return;
    if (table_hook() != nullptr)
        add_other(table_hook());
    table_hook() = kOurs;
}

} // namespace simhash
