// Copies of documents with edits of known kind.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/text/unicode.hpp"
#include "documents.hpp"

namespace quality {

// Where the character that begins at `at` ends, with the marks after it.
inline size_t end_of_character(const std::string& text, size_t at) {
    using namespace simhash;
    const uint8_t* const begin = reinterpret_cast<const uint8_t*>(text.data());
    const uint8_t* const text_end = begin + text.size();
    const uint8_t* next = begin + at;
    decode_utf8(next, text_end);
    for (const uint8_t* end = next; next < text_end; end = next)
        if (kind_of_class(character_class(decode_utf8(next, text_end))) != kMark)
            return end - begin;
    return text.size();
}

// What is replaced or added as a word: a run without white space, or one character of several bytes
// in a corpus without spaces, with its marks.
inline std::vector<std::pair<size_t, size_t>> words_of(const std::string& text, bool spaceless) {
    std::vector<std::pair<size_t, size_t>> words; // (begin, end)
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        if (spaceless && uint8_t(text[at]) >= 0x80)
            end = end_of_character(text, at);
        else
            while (end < text.size() && !isspace(uint8_t(text[end])) &&
                   !(spaceless && uint8_t(text[end]) >= 0x80))
                end++;
        if (end > at)
            words.push_back({at, end});
        at = std::max(end, at + (end == at));
    }
    return words;
}

class Editor {
  public:
    explicit Editor(const Corpus& corpus) : spaceless_(corpus.spaceless) {
        for (const std::string& document : corpus.documents)
            for (const auto& [begin, end] : words_of(document, spaceless_))
                if (random() % 8 == 0)
                    vocabulary_.push_back(document.substr(begin, end - begin));
    }

    std::string replace_words(const std::string& text, size_t count, bool with_numbers) {
        auto words = words_of(text, spaceless_);
        if (words.empty())
            return text;
        std::vector<size_t> chosen;
        for (size_t i = 0; i < count; i++)
            chosen.push_back(random() % words.size());
        std::sort(chosen.begin(), chosen.end());
        chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
        std::string edited = text;
        for (size_t i = chosen.size(); i-- > 0;) {
            const auto [begin, end] = words[chosen[i]];
            edited.replace(begin, end - begin,
                           with_numbers ? std::to_string(random() % 1000000) : any_word());
        }
        return edited;
    }

    std::string replace_share(const std::string& text, double share) {
        return replace_words(text, size_t(std::ceil(words_of(text, spaceless_).size() * share)),
                             false);
    }

    std::string add_advertisement(const std::string& text) {
        const auto words = words_of(text, spaceless_);
        const size_t place = words.empty() ? 0 : words[random() % words.size()].first;
        std::string advertisement;
        for (int i = 0; i < 20; i++)
            advertisement += any_word() + (spaceless_ ? "" : " ");
        return text.substr(0, place) + advertisement + text.substr(place);
    }

    std::string delete_line(const std::string& text) {
        std::vector<size_t> ends;
        for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
            ends.push_back(at);
        if (ends.size() < 2)
            return text;
        const size_t line = 1 + random() % (ends.size() - 1);
        return text.substr(0, ends[line - 1]) + text.substr(ends[line]);
    }

    static std::string change_dress(const std::string& text) {
        std::string edited;
        for (const char c : text) {
            if (ispunct(uint8_t(c)))
                edited += ' ';
            else
                edited += char(uint8_t(c) < 0x80 ? toupper(c) : c);
            if (c == ' ')
                edited += "  ";
        }
        return edited;
    }

    static std::string wrap_in_html(const std::string& text) {
        return "<!DOCTYPE html>\n<html><head><title>Page</title></head>\n<body><div "
               "class=\"main\"><p>" +
               text + "</p></div>\n</body></html>\n";
    }

    std::mt19937 random{42};

  private:
    const std::string& any_word() { return vocabulary_[random() % vocabulary_.size()]; }

    const bool spaceless_;
    std::vector<std::string> vocabulary_;
};

} // namespace quality
