// Compares texts by the library's own code, for test/quality/passages.py: reads texts that end in a NUL
// byte, two and two, and prints for each pair the similarity of their sets of shingles of three words,
// the share of the first one's shingles that the second has, and the length of their longest common run.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/text/document.hpp"
#include "core/text/feature_set.hpp"
#include "core/text/passages.hpp"

using namespace simhash;

namespace {

Memory malloc_memory() {
    return {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
            [](void*, void* memory) { free(memory); }};
}

constexpr auto kNoPause = [] {};

struct Whole {
    const std::string* text; // null when it was read
    TextSource source() {
        return {this, [](void* context, const uint8_t** at, size_t* bytes) {
                    auto* whole = static_cast<Whole*>(context);
                    if (whole->text == nullptr)
                        return false;
                    *at = reinterpret_cast<const uint8_t*>(whole->text->data());
                    *bytes = whole->text->size();
                    whole->text = nullptr;
                    return true;
                }};
    }
};

struct Read {
    FeatureSet shingles{malloc_memory()};
    GrowingArray<uint64_t> words{malloc_memory()};

    explicit Read(const std::string& text) {
        each_feature(FeatureKind::kWords, 3, Whole{&text}.source(), shingles);
        add_words(Whole{&text}.source(), &words);
    }
};

bool next_text(std::string* text) {
    text->clear();
    for (int c; (c = getchar()) != EOF; text->push_back(char(c)))
        if (c == 0)
            return true;
    return false;
}

} // namespace

int main() {
    for (std::string a, b; next_text(&a) && next_text(&b);) {
        Read of_a(a), of_b(b);
        double similarity = 0, containment = 0;
        FeatureHashes shingles_a = of_a.shingles.finish(), shingles_b = of_b.shingles.finish();
        set_similarity(shingles_a, shingles_b, &similarity);
        set_containment(shingles_a, shingles_b, &containment);
        size_t run =
            longest_common_run(of_a.words.all(), of_b.words.all(), 1, malloc_memory(), kNoPause);
        printf("%g %g %zu\n", similarity, containment, run);
    }
}
