// Looks up the places of words by their numbers. See the header.
#include "values/text/word_places.hpp"

#include <algorithm>

#include "server/arguments.hpp"
#include "server/server_text.hpp"

namespace simhash {
namespace {

// An end of a passage, and the word by which it is known.
struct Wanted {
    uint32_t word, passage;
    bool is_end;
};

} // namespace

WordPlace* places_of(const text* given, std::span<const Passage> passages,
                     uint32_t Passage::*first) {
    auto* places = allocate_array<WordPlace>(server_memory(), passages.size());
    auto* wanted = allocate_array<Wanted>(server_memory(), 2 * passages.size());
    Wanted* end = wanted;
    for (uint32_t i = 0; i < passages.size(); i++) {
        uint32_t begin = passages[i].*first;
        *end++ = {begin, i, false};
        *end++ = {begin + passages[i].words - 1, i, true};
    }
    std::sort(wanted, end, [](const Wanted& a, const Wanted& b) { return a.word < b.word; });
    const Wanted* next = wanted;
    uint32_t word = 0; // the number of the next one
    auto take_word = [&](const WordPlace& place) {
        for (; next < end && next->word == word; next++)
            if (next->is_end)
                places[next->passage].end = place.end;
            else
                places[next->passage].begin = place.begin;
        word++;
    };
    PlacedWords placed(take_word);
    PlacedText source(given);
    const uint8_t* at;
    size_t bytes;
    WordPlace place;
    // What is behind the last passage need not be read.
    while (next < end && source.next(&at, &bytes, &place))
        placed.code_point(at, bytes, place);
    placed.finish();
    Assert(next == end);
    return places;
}

} // namespace simhash
