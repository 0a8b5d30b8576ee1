// What a call site keeps of a text argument: the last value, and what was made of it. In a scan
// with a condition on one document, that document is read once.
//
// A change of the value is noticed by its bytes. A comparison of these is cheaper than to read the
// document, and no pointer tells: the executor may put the next row's value at the same address.
#pragma once

#include "server/pg.hpp"

#include <new>

namespace simhash {

// Made has a constructor  explicit Made(text* value),  which allocates in the current memory
// context. No destructor is called: what is made goes with the memory.
template <typename Made>
class KeptText {
  public:
    // `parent` lasts as long as the call site.
    void begin(MemoryContext parent) {
        memory_ = AllocSetContextCreate(parent, "simhash document", ALLOCSET_DEFAULT_SIZES);
        bytes_ = nullptr;
    }

    bool has_begun() const { return memory_ != nullptr; }
    size_t size() const { return size_; } // of the last value, in bytes

    void forget() {
        bytes_ = nullptr;
        MemoryContextReset(memory_);
    }

    Made* of(text* given) {
        size_t size = VARSIZE_ANY_EXHDR(given);
        is_same_ =
            bytes_ != nullptr && size_ == size && memcmp(bytes_, VARDATA_ANY(given), size) == 0;
        if (!is_same_)
            make(given, size);
        return made_;
    }
    Made* of(FunctionCallInfo fcinfo, int argument) {
        text* given = PG_GETARG_TEXT_PP(argument);
        Made* made = of(given);
        PG_FREE_IF_COPY(given, argument);
        return made;
    }

    // True when the last value was the same as the one before.
    bool is_same() const { return is_same_; }

  private:
    void make(text* given, size_t size) {
        // What was made of the last value goes at once, whatever was allocated for it. Nothing is
        // kept until all is in place: a cancellation may end this.
        forget();
        MemoryContext caller = MemoryContextSwitchTo(memory_);
        made_ = new (palloc(sizeof(Made))) Made(given);
        auto* bytes = static_cast<char*>(MemoryContextAllocHuge(memory_, size + 1));
        memcpy(bytes, VARDATA_ANY(given), size);
        MemoryContextSwitchTo(caller);
        bytes_ = bytes;
        size_ = size;
    }

    MemoryContext memory_; // holds what follows
    char* bytes_;          // [size]; null where nothing is kept
    size_t size_;
    Made* made_;
    bool is_same_;
};

// Stands in fn_extra after the first call. An exclusion constraint makes a call site for each row
// that it looks at, in memory that lasts as long as the statement: the first call keeps nothing
// there.
inline char called_once;

// What the call site keeps of `count` texts, in fn_extra; null in the first call, and without an
// FmgrInfo, as under DirectFunctionCall().
template <typename Made>
KeptText<Made>* kept_texts(FunctionCallInfo fcinfo, int count) {
    FmgrInfo* function = fcinfo->flinfo;
    if (function == nullptr)
        return nullptr;
    if (function->fn_extra == nullptr) {
        function->fn_extra = &called_once;
        return nullptr;
    }
    if (function->fn_extra == &called_once) {
        auto* texts = static_cast<KeptText<Made>*>(
            MemoryContextAlloc(function->fn_mcxt, size_t(count) * sizeof(KeptText<Made>)));
        for (int i = 0; i < count; i++)
            texts[i].begin(function->fn_mcxt);
        function->fn_extra = texts;
    }
    return static_cast<KeptText<Made>*>(function->fn_extra);
}

} // namespace simhash
