// A library that takes the planner's hook away from whoever had it, for test/t/016_hook.pl. Loaded, it
// takes it at once, as libraries do; displace() takes it again. The setting displacer.manners says how:
//
//   overwrites   the hook that was there is never called (Citus)
//   chains       it is called
//   insists      it is called, and the hook is taken again before each query is planned
//   fails        it is called, and then the first opening of a table raises an error
//   imagines     it is called, and every index is taken for one that has no pages yet (hypopg)
//
// displaced() counts how often its hook was called.
#include "server/pg.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "optimizer/planner.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(displace);
PG_FUNCTION_INFO_V1(displaced);
PGDLLEXPORT void _PG_init();
}

namespace {

char* manners;
int64 calls;
bool failed;
simhash::TableHook previous;
planner_hook_type previous_planner;

bool is_mannered(const char* so) { return strcmp(manners, so) == 0; }

// An advisor adds such entries to the list. Those of real indexes become the same here.
void imagine_indexes(RelOptInfo* relation) {
    ListCell* cell;
    foreach (cell, relation->indexlist) {
        auto* index = lfirst_node(IndexOptInfo, cell);
        index->hypothetical = true;
        index->pages = 0;
    }
}

void on_opening(const simhash::OpenedTable& table) {
    if (table.is_table())
        calls++;
    if (!is_mannered("overwrites") && previous != nullptr)
        table.hand_to(previous);
    if (is_mannered("imagines"))
        imagine_indexes(table.relation);
    if (is_mannered("fails") && !failed) {
        failed = true;
        ereport(ERROR, (errmsg("the displacer fails once")));
    }
}

void take_hook() {
    constexpr simhash::TableHook kOurs = simhash::kTableHookTo<on_opening>;
    if (simhash::table_hook() == kOurs)
        return;
    previous = simhash::table_hook();
    simhash::table_hook() = kOurs;
}

// What the hook is called with, PostgreSQL 19 has more of.
template <typename... Arguments>
PlannedStmt* on_planning(Arguments... arguments) {
    if (is_mannered("insists"))
        take_hook();
    return previous_planner != nullptr ? previous_planner(arguments...)
                                       : standard_planner(arguments...);
}

} // namespace

void _PG_init() {
    DefineCustomStringVariable("displacer.manners", "How the hook is taken.", nullptr, &manners,
                               "overwrites", PGC_USERSET, 0, nullptr, nullptr, nullptr);
    previous_planner = planner_hook;
    planner_hook = on_planning;
    take_hook();
}

Datum displace([[maybe_unused]] PG_FUNCTION_ARGS) {
    take_hook();
    PG_RETURN_VOID();
}

Datum displaced([[maybe_unused]] PG_FUNCTION_ARGS) { PG_RETURN_INT64(calls); }
