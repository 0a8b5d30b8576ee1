// Tells the progress of long calls. See the header.
#include "server/progress.hpp"

namespace simhash {
namespace {

int interval = 0; // simhash.progress, in milliseconds; 0: off
Progress* current = nullptr;

} // namespace

uint64 Progress::done_ = 0;

Progress::Progress(Oid function)
    : outer_(current), done_by_outer_(done_), function_(get_func_name(function)),
      begun_(GetCurrentTimestamp()), told_(begun_), shown_(begun_) {
    title_ = pstrdup(get_ps_display(&title_bytes_));
}

// An error would go past a destructor, and leave `current` where this object was.
void Progress::call(FunctionRef<void()> run) {
    current = this;
    PG_TRY();
    { run(); }
    PG_CATCH();
    {
        end();
        PG_RE_THROW();
    }
    PG_END_TRY();
    end();
}

void Progress::end() {
    current = outer_;
    done_ = done_by_outer_;
    set_ps_display(title_);
}

void Progress::begin(const char* what, const char* unit, double total, bool is_estimate) {
    done_ = 0;
    if (current == nullptr)
        return;
    current->what_ = what;
    current->unit_ = unit;
    current->total_ = total;
    current->is_estimate_ = is_estimate;
}

void Progress::tell() {
    constexpr int kTitle = 1000; // milliseconds between two titles
    Progress* self = current;
    if (self == nullptr)
        return;
    TimestampTz now = GetCurrentTimestamp();
    bool tells = interval > 0 && TimestampDifferenceExceeds(self->told_, now, interval);
    bool shows = update_process_title && TimestampDifferenceExceeds(self->shown_, now, kTitle);
    if (!tells && !shows)
        return;
    char total[64] = "", message[256];
    if (self->total_ > 0)
        snprintf(total, sizeof(total), " of %s%.0f", self->is_estimate_ ? "about " : "",
                 self->total_);
    snprintf(message, sizeof(message), "%s: %s %llu%s%s, %lld s", self->function_, self->what_,
             static_cast<unsigned long long>(done_), total, self->unit_,
             static_cast<long long>((now - self->begun_) / USECS_PER_SEC));
    if (shows) {
        set_ps_display(message);
        self->shown_ = now;
    }
    if (tells) {
        self->told_ = now;
        ereport(INFO, errmsg_internal("%s", message), errhidecontext(true));
    }
}

void define_progress() {
    // A second copy of the library in this process leaves the setting to the first.
    constexpr const char* kName = "simhash.progress";
    int flags = GetConfigOptionFlags(kName, true);
    if (flags != 0 && (flags & GUC_CUSTOM_PLACEHOLDER) == 0)
        return;
    DefineCustomIntVariable(kName,
                            "Time between two messages about the progress of whole-table calls.",
                            "0 sends none.", &interval, 0, 0, INT_MAX, PGC_USERSET, GUC_UNIT_MS,
                            nullptr, nullptr, nullptr);
    MarkGUCPrefixReserved("simhash"); // so that a misspelt name is an error
}

} // namespace simhash
