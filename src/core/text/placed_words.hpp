// The words of a text with their places in it.
//
// The words are those of WordCutter, in the same order: this stands between the reader and a cutter
// and watches which characters go in before a word comes out. So it gives one character at a time.
//
//     text         "It's 東京都。"
//     characters    0  2 3 4  7
//     words         it [0, 2)   s [3, 4)   東京 [5, 7)   京都 [6, 8)
//
// A character may be several words ("㏂" is "am", "ﷺ" is four words): they all have its place.
#pragma once

#include "core/text/cutters.hpp"

namespace simhash {

// A place in a text as the caller counts: in characters, and in bytes.
struct TextPlace {
    size_t character, byte;
};

struct WordPlace {
    TextPlace begin, end;
};

// The consumer is called with the place of each word.
template <typename Consumer>
class PlacedWords {
  public:
    explicit PlacedWords(Consumer& consumer) : consumer_(consumer), cutter_(*this) {}

    // The next code point of the text, in UTF-8, and the place of the character that it belongs to.
    void code_point(const uint8_t* at, size_t bytes, const WordPlace& place) {
        const uint8_t* behind = at;
        // The reader leaves these out, wherever they are. An accent still stands on its letter.
        CharacterClass character = character_class(decode_utf8(behind, at + bytes));
        if (kind_of_class(character) == kIgnored) {
            if (character & kJoinsPrevious)
                held_.end = place.end;
            return;
        }
        is_handed_on_ = false;
        reader_.feed(*this, at, bytes);
        if (reader_.is_waiting())
            return;
        // The reader holds a character back until the next one does not join it.
        if (is_handed_on_ || is_first_)
            held_.begin = place.begin;
        held_.end = place.end;
        is_first_ = false;
    }

    void finish() {
        reader_.finish(*this);
        cutter_.finish();
    }

    // ---- for the reader: what it has held back, at held_ ----

    void ascii(const uint8_t* begin, const uint8_t* end) {
        // The reader gives one at a time, and beside it nothing.
        if (begin == end)
            return;
        is_handed_on_ = true;
        cutter_.ascii(begin, end);
        if (kFoldAscii[*begin] != 0)
            continue_word();
    }
    void character(uint32_t code_point, CharacterKind kind) {
        is_handed_on_ = true;
        // Whatever comes out now, a run goes on with its next character.
        bool continues_run = kind == kSpaceless && pending_ == Pending::kRun;
        cutter_.character(code_point, kind);
        if (kind == kSpaceless) {
            has_before_ = continues_run;
            before_ = last_;
            last_ = held_;
            pending_ = Pending::kRun;
        } else if (kind == kMark && pending_ == Pending::kRun) {
            last_.end = held_.end;
        } else if (kind == kLetter || kind == kMark) {
            continue_word();
        }
    }

    // ---- for the cutter: a word has come out ----

    void operator()(const uint8_t*, size_t) {
        if (pending_ == Pending::kWord)
            consumer_(last_);
        else if (pending_ == Pending::kRun)
            consumer_({has_before_ ? before_.begin : last_.begin, last_.end});
        else
            consumer_(held_); // a pictograph
        pending_ = Pending::kNothing;
    }

  private:
    // What the cutter has of the word to come: letters, or the end of a spaceless run.
    enum class Pending : uint8_t { kNothing, kWord, kRun };

    void continue_word() {
        if (pending_ != Pending::kWord)
            last_.begin = held_.begin;
        last_.end = held_.end;
        pending_ = Pending::kWord;
    }

    Consumer& consumer_;
    TextReader reader_;
    WordCutter<PlacedWords> cutter_;
    WordPlace held_ = {}; // what the reader holds back
    // The word to come; or the last character of the run, and if the run has another one, the one
    // before it: such a pair is the next word.
    WordPlace last_ = {}, before_ = {};
    bool has_before_ = false;
    Pending pending_ = Pending::kNothing;
    bool is_first_ = true;      // the reader has no character yet
    bool is_handed_on_ = false; // the reader handed on what it held
};

} // namespace simhash
