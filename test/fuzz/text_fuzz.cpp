// The way from bytes to fingerprints under libFuzzer: any bytes, any options, slices of any size.
// The first three bytes choose; the rest is the document. Checked: nothing is read out of bounds
// (sanitizers), and the slices a document comes in do not change its fingerprint. Its words are found
// at as many places, in order. The passages of its halves are parts of both, and so are found by their
// hashes, where they are long.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/text/document.hpp"
#include "core/text/passages.hpp"
#include "core/text/placed_words.hpp"

using namespace simhash;

namespace {

struct Slices {
    const uint8_t* at;
    const uint8_t* end;
    size_t slice;              // bytes
    std::vector<uint8_t> copy; // of exactly the slice's size, so that a read beyond it is seen

    TextSource source() {
        return {this, [](void* context, const uint8_t** at, size_t* bytes) {
                    Slices* slices = static_cast<Slices*>(context);
                    if (slices->at == slices->end)
                        return false;
                    const uint8_t* cut =
                        slices->at + std::min<size_t>(slices->slice, slices->end - slices->at);
                    // Only before ASCII: surely between characters.
                    while (cut < slices->end && *cut >= 0x80)
                        cut++;
                    slices->copy = std::vector<uint8_t>(slices->at, cut);
                    slices->at = cut;
                    *at = slices->copy.data();
                    *bytes = slices->copy.size();
                    return true;
                }};
    }
};

const Memory kMemory = {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
                        [](void*, void* held) { free(held); }};

std::optional<uint64_t> print(const DocumentOptions& options, const uint8_t* text, size_t bytes,
                              size_t slice) {
    Slices slices{text, text + bytes, slice, {}};
    return document_fingerprint(options, slices.source(), kMemory);
}

void require(bool holds) {
    if (!holds)
        abort();
}

// ---- words and their places ----

// A consumer of PlacedWords.
struct CheckPlaces {
    size_t count = 0;
    WordPlace last = {};

    void operator()(const WordPlace& place) {
        require(place.begin.byte < place.end.byte && last.begin.byte <= place.begin.byte &&
                last.end.byte <= place.end.byte);
        last = place;
        count++;
    }
};

void check_places(const uint8_t* text, size_t bytes, size_t words) {
    CheckPlaces places;
    PlacedWords<CheckPlaces> placed(places);
    size_t characters = 0;
    for (const uint8_t *at = text, *end = text + bytes; at < end; characters++) {
        const uint8_t* begin = at;
        decode_utf8(at, end);
        placed.code_point(
            begin, size_t(at - begin),
            {{characters, size_t(begin - text)}, {characters + 1, size_t(at - text)}});
    }
    placed.finish();
    require(places.count == words && places.last.end.byte <= bytes);
}

// ---- passages ----

// All memory goes at the end.
struct Arena {
    std::vector<void*> held;

    Memory memory() {
        return {this,
                [](void* arena, size_t bytes) {
                    void* taken = malloc(bytes);
                    static_cast<Arena*>(arena)->held.push_back(taken);
                    return taken;
                },
                [](void*, void*) {}};
    }
    ~Arena() {
        for (void* taken : held)
            free(taken);
    }
};

constexpr auto kNoPause = [] {};

std::vector<uint64_t> winnowed(Words words, size_t run) {
    FeatureSet set(kMemory);
    winnow(words, run, &set, kNoPause);
    FeatureHashes hashes = set.finish();
    std::vector<uint64_t> result(hashes.begin(), hashes.end());
    set.release();
    return result;
}

void check_passages(Words a, Words b, size_t least) {
    Arena arena;
    Memory memory = arena.memory();
    bool* is_shared = allocate_array<bool>(memory, a.size());
    std::fill_n(is_shared, a.size(), false);
    mark_shared_runs(a, b, least, is_shared, memory, kNoPause);
    std::vector<bool> is_taken(b.size());
    size_t end = 0, longest = 0;
    for (const Passage& passage : common_passages(a, b, least, memory, kNoPause)) {
        require(passage.words >= least && passage.a >= end &&
                passage.a + passage.words <= a.size() && passage.b + passage.words <= b.size());
        for (size_t i = 0; i < passage.words; i++) {
            require(a[passage.a + i] == b[passage.b + i] && !is_taken[passage.b + i]);
            require(is_shared[passage.a + i]);
            is_taken[passage.b + i] = true;
        }
        end = passage.a + passage.words;
        longest = std::max<size_t>(longest, passage.words);
    }
    require(longest == longest_common_run(a, b, least, memory, kNoPause));
    require(std::count(is_shared, is_shared + a.size(), true) >= ptrdiff_t(longest));
    size_t last = 0;
    for (const Passage& passage : repeated_passages(a, least, memory, kNoPause)) {
        require(passage.words >= least && passage.a >= last && passage.b < passage.a &&
                passage.a + passage.words <= a.size());
        require(std::equal(a.begin() + passage.a, a.begin() + passage.a + passage.words,
                           a.begin() + passage.b));
        last = passage.a + passage.words;
    }
    if (least <= std::min(a.size(), b.size()))
        require(RunFinder(a, least, memory, kNoPause).has_run_of(b, memory, kNoPause) ==
                (longest > 0));
    std::vector<uint64_t> of_a = winnowed(a, least), of_b = winnowed(b, least);
    if (longest > 0)
        require(std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()) !=
                of_a.end());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
    if (bytes < 3)
        return 0;
    DocumentOptions options;
    options.features = FeatureKind(data[0] % 2);
    options.width = 1 + data[1] % kMaxWidth;
    options.weighting = Weighting(data[0] / 2 % 5);
    options.hash = HashKind(data[0] / 10 % 2);
    const size_t slice = 1 + data[2] % 64;
    if (print(options, data + 3, bytes - 3, bytes) != print(options, data + 3, bytes - 3, slice))
        abort();

    FeatureSet set(kMemory);
    Slices slices{data + 3, data + bytes, slice, {}};
    each_feature(options.features, options.width, slices.source(), set);
    set.release();

    GrowingArray<uint64_t> hashes(kMemory);
    Slices again{data + 3, data + bytes, slice, {}};
    add_words(again.source(), &hashes);
    Words words = hashes.all();
    check_places(data + 3, bytes - 3, words.size());
    check_passages(words.first(words.size() / 2), words.subspan(words.size() / 2),
                   1 + data[1] % 20);
    hashes.release();
    return 0;
}
