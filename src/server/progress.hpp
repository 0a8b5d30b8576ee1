// Progress of calls that take minutes: messages at INFO each `simhash.progress`, and the process
// title for ps and top. What is done is counted, of a total where one is known or estimated:
//
//     INFO:  near_duplicate_groups: read 3200000 of about 10000000 rows, 24 s
//     INFO:  near_duplicate_groups: bands 11 of 31, 40 s
//
// The present phase is the backend's: code far below a call counts a step without being handed
// anything.
#pragma once

#include "server/pg.hpp"

#include "core/bits/function_ref.hpp"

namespace simhash {

class Progress {
  public:
    // Calls run(), and tells its progress meanwhile. A call within another one's query takes its
    // place while it lasts, also where it ends with an error that a function in the query catches.
    // function: the one that was called
    static void tell_of(Oid function, FunctionRef<void()> run) { Progress(function).call(run); }

    // Begins a phase: "read" of "rows". total: 0 where it is not known
    static void begin(const char* what, const char* unit, double total, bool is_estimate = false);
    // Has done one more. To be called often.
    static void step() {
        if ((++done_ & (kSteps - 1)) == 0)
            tell();
    }
    // The same, where each step takes long.
    static void long_step() {
        done_++;
        tell();
    }

  private:
    explicit Progress(Oid function);
    void call(FunctionRef<void()> run);
    void end();
    static void tell();

    static constexpr uint64 kSteps = 256; // between two looks at the clock

    static uint64 done_;
    const char* title_;
    int title_bytes_;
    Progress* outer_;
    uint64 done_by_outer_;
    const char *function_, *what_ = "", *unit_ = "";
    double total_ = 0;
    bool is_estimate_ = false;
    TimestampTz begun_, told_, shown_;
};

// Defines simhash.progress. To be called when the library is loaded.
void define_progress();

} // namespace simhash
