// Documents with a natural vocabulary, for document_groups.sh and scaling.sh:
//
//   natural_documents COUNT WORDS COPIES [BYTES [FIRST]]
//
// The documents from number FIRST (1) to COUNT, one a line, of about BYTES (1100): words by Zipf's
// law from a made-up vocabulary of WORDS. Each tenth, but for the first ones, is a copy of an
// earlier document in which up to 6 % of the words are replaced, left out or followed by another;
// of each twenty copies one is exact. Writes the number of each copy and of what it was made from
// to the file COPIES. A document depends on its number alone, so that earlier ones need not be
// kept.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// SplitMix64.
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9E3779B97F4A7C15;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return z ^ z >> 31;
    }
    double share() { return double(next() >> 11) * 0x1p-53; } // from 0 to below 1
    size_t below(size_t limit) { return size_t(share() * double(limit)); }

  private:
    uint64_t state_;
};

// The frequent words are short.
std::string word(size_t rank) {
    constexpr const char* kConsonants[] = {"b", "k", "d", "f", "g", "l", "m",  "n",
                                           "p", "r", "s", "t", "v", "w", "sh", "st"};
    std::string letters;
    for (size_t rest = rank + 17; rest > 0; rest /= 80) {
        letters += kConsonants[rest % 16];
        letters += "aeiou"[rest / 16 % 5];
    }
    return letters;
}

using Document = std::vector<uint32_t>; // the ranks of its words

uint32_t any_word(Random& random, size_t words) {
    return uint32_t(std::pow(double(words), random.share()) - 1); // Zipf's law
}

double length = 1; // in 1.1 kB

Document original(size_t number, size_t words) {
    Random random(number);
    Document document(size_t(length * (80 + 310 * std::pow(random.share(), 1.3))));
    for (uint32_t& word : document)
        word = any_word(random, words);
    return document;
}

Document changed(const Document& from, Random& random, double share, size_t words) {
    Document document;
    for (uint32_t word : from) {
        const bool is_changed = random.share() < share;
        const size_t change = random.below(3); // replaced, left out, followed by another
        if (!is_changed || change == 2)
            document.push_back(word);
        if (is_changed && change != 1)
            document.push_back(any_word(random, words));
    }
    return document;
}

bool is_copy(size_t number) { return number > 100 && number % 10 == 3; }

} // namespace

int main(int count, char** arguments) {
    if (count < 4 || count > 6) {
        fprintf(stderr, "usage: %s COUNT WORDS COPIES [BYTES [FIRST]]\n", arguments[0]);
        return 2;
    }
    if (count > 4)
        length = atof(arguments[4]) / 1100;
    const size_t documents = size_t(atoll(arguments[1])), words = size_t(atoll(arguments[2]));
    FILE* copies = fopen(arguments[3], "w");
    if (copies == nullptr) {
        perror(arguments[3]);
        return 1;
    }
    std::vector<std::string> vocabulary;
    for (size_t rank = 0; rank < words; rank++)
        vocabulary.push_back(word(rank));
    for (size_t number = count > 5 ? size_t(atoll(arguments[5])) : 1; number <= documents;
         number++) {
        Document document;
        if (is_copy(number)) {
            Random random(~number);
            size_t from = 1 + random.below(number - 1);
            from += is_copy(from); // copies are made of originals
            const double share = number % 200 == 3 ? 0 : 0.06 * random.share();
            document = changed(original(from, words), random, share, words);
            fprintf(copies, "%zu\t%zu\n", number, from);
        } else
            document = original(number, words);
        std::string line;
        for (size_t i = 0; i < document.size(); i++) {
            if (i > 0)
                line += i % 23 == 0 ? ". " : " ";
            line += vocabulary[document[i]];
        }
        puts(line.c_str());
    }
    return fclose(copies) == 0 && fflush(stdout) == 0 ? 0 : 1;
}
