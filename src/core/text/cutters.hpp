// From normalised characters to features: the second half of the way from a document to features.
//
//   WordCutter                 "The quick, brown fox"  ->  the | quick | brown | fox
//   Shingles of them, width 2                          ->  the quick | quick brown | brown fox
//   WordCutter                 "東京、都 2024年"         ->  東京 | 京都 | 2024 | 年
//   CharacterCutter, width 4   "It's 東京都"            ->  it s | t s東 | " s東京" | s東京都
//
// A word is letters, marks and digits in a row. A script written without spaces gives overlapping
// pairs of characters instead (a character keeps its marks), as Lucene's CJK analyzer does; its
// runs go on over separators, so that neither line breaks nor commas matter. A pictograph is a
// word. A feature's text is its words with one space between, so that SQL can show, weight and hash
// it. A document with fewer words (or characters) than the width is a single feature.
//
// Everything is bounded: a word longer than kMaxWord bytes is cut (an endless base64 line becomes
// many words), so a shingle has at most width * (kMaxWord + 1) bytes.
//
// A consumer is called with each feature: consumer(const uint8_t* text, size_t bytes). Of a word it
// may read kWordRoom bytes, of which those behind the word may be any.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/text/reader.hpp"

namespace simhash {

constexpr int kMaxWidth = 32;
constexpr size_t kMaxWord = 255; // bytes
constexpr size_t kWordRoom = 16;

// ---- ASCII text, 64 characters at a time ----

// Most text is largely ASCII, and there words are found by bits: the mask has a 1 for each letter
// or digit, and a word begins or ends where neighbouring bits differ.
//
//   "It's 5 o'clock"  ->  11010101011111        (shown from left to right)

constexpr size_t kAsciiBlock = 64; // characters

// Reads kAsciiBlock ASCII characters and writes as many: letters in lower case, digits as they are,
// any byte for the rest. Bit i of the result is set if character i is a letter or digit.
inline uint64_t letters_of(const uint8_t* text, uint8_t* folded) {
    using Sixteen [[gnu::vector_size(16)]] = uint8_t;
    uint64_t letters = 0;
    for (size_t i = 0; i < kAsciiBlock; i += 16) {
        Sixteen given;
        memcpy(&given, text + i, sizeof(given));
        Sixteen lower = given | uint8_t{0x20};
        memcpy(folded + i, &lower, sizeof(lower));
        // The differences are unsigned: lesser characters wrap around to great numbers. A
        // comparison gives all ones or zeros.
        Sixteen found = Sixteen(lower - uint8_t{'a'} <= uint8_t{'z' - 'a'}) |
                        Sixteen(given - uint8_t{'0'} <= uint8_t{'9' - '0'});
#ifdef __SSE2__
        __m128i bytes;
        memcpy(&bytes, &found, sizeof(bytes));
        letters |= uint64_t(uint32_t(_mm_movemask_epi8(bytes))) << i;
#else
        // Each of eight bytes keeps the bit of its place, and a multiplication adds them up.
        found &= Sixteen{1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
        uint64_t halves[2];
        memcpy(halves, &found, sizeof(halves));
        letters |= (halves[0] * 0x0101010101010101 >> 56) << i;
        letters |= (halves[1] * 0x0101010101010101 >> 56) << (i + 8);
#endif
    }
    return letters;
}

// The same for `count` <= kAsciiBlock characters; `folded` has room for kAsciiBlock.
inline uint64_t letters_of(const uint8_t* text, size_t count, uint8_t* folded) {
    if (count == kAsciiBlock)
        return letters_of(text, folded);
    // A 0 is no letter. The copy keeps the reading inside of the text.
    uint8_t padded[kAsciiBlock] = {};
    memcpy(padded, text, count);
    return letters_of(padded, folded);
}

// ---- cutters ----

// Copies a word from and to where kWordRoom bytes may be read and written.
inline void copy_word(uint8_t* to, const uint8_t* text, size_t bytes) {
    if (bytes <= kWordRoom)
        memcpy(to, text, kWordRoom);
    else
        memcpy(to, text, bytes);
}

// Pieces (words or characters) side by side. When there is no room for another one, the features
// that they make are passed on, and the last pieces, which begin those to come, move to the front.
// Many at once take less time than each with its last piece: a loop that only hashes keeps in
// registers what it needs, and no hash waits until a piece is written.
template <typename Consumer>
class PieceWindow {
  public:
    PieceWindow(Consumer& consumer, int width) : consumer_(consumer), width_(size_t(width)) {}

    // Where a piece is to be written, with room for what copy_word() writes.
    uint8_t* room() {
        if (pieces_ == kMostPieces || used_ + kMaxWord + kWordRoom > sizeof(bytes_)) [[unlikely]]
            make_room();
        return bytes_ + used_;
    }
    // Adds the piece that stands there.
    void add(size_t bytes) {
        begins_[pieces_] = used_;
        ends_[pieces_++] = used_ += uint32_t(bytes);
    }
    void add_space() { bytes_[used_++] = ' '; }

    void finish() {
        // A document with fewer pieces than the width is a single feature.
        if (pieces_ > 0 && pieces_ < width_)
            consumer_(bytes_, ends_[pieces_ - 1]);
        else
            pass_on();
    }

  private:
    static constexpr size_t kMostPieces = 256;
    static_assert(kMostPieces > kMaxWidth);

    // These are not inlined, so that the loop over words stays small.
    __attribute__((noinline)) void pass_on() {
        for (size_t i = 0; i + width_ <= pieces_; i++)
            consumer_(bytes_ + begins_[i], ends_[i + width_ - 1] - begins_[i]);
    }

    // A piece is added next: there are as many as the width again.
    __attribute__((noinline)) void make_room() {
        pass_on();
        size_t kept = width_ - 1, passed = pieces_ - kept;
        uint32_t shift = kept > 0 ? begins_[passed] : used_;
        memmove(bytes_, bytes_ + shift, used_ - shift);
        for (size_t i = 0; i < kept; i++) {
            begins_[i] = begins_[passed + i] - shift;
            ends_[i] = ends_[passed + i] - shift;
        }
        used_ -= shift;
        pieces_ = kept;
    }

    Consumer& consumer_;
    size_t width_, pieces_ = 0;
    uint32_t used_ = 0;                                // bytes
    uint32_t begins_[kMostPieces], ends_[kMostPieces]; // offsets of the pieces
    // Four times what a feature can need: when it is full, there are more pieces than the width.
    uint8_t bytes_[4 * kMaxWidth * (kMaxWord + 1)];
};

template <typename Consumer>
class WordCutter {
  public:
    explicit WordCutter(Consumer& consumer) : consumer_(consumer) {}

    void ascii(const uint8_t* at, const uint8_t* end) {
        if (in_run()) [[unlikely]]
            at = end_run_at_letter(at, end);
        while (at < end)
            if (used_ > 0 || end - at < kFew)
                ascii(*at++);
            else
                at += whole_words(at, end);
    }

    void character(uint32_t code_point, CharacterKind kind) {
        // A mark in a run belongs to the character before it. Any other mark belongs to the word.
        if (kind == kSpaceless || (kind == kMark && in_run())) {
            spaceless(code_point, kind);
            return;
        }
        if (kind == kSeparator) {
            end_word();
            return;
        }
        end_run();
        if (kind == kPictograph)
            end_word();
        append(code_point);
        if (kind == kPictograph)
            end_word();
    }

    void finish() {
        end_run();
        end_word();
    }

  private:
    static constexpr ptrdiff_t kFew = 8; // ASCII characters that are taken one by one

    // A character of a script without spaces, with its marks.
    struct Cluster {
        // There is room for a character of 4 bytes and some marks. Marks beyond that are left out.
        uint8_t text[32];
        int bytes = 0;
    };

    void append(uint32_t code_point) {
        uint8_t encoded[4];
        int bytes = encode_utf8(code_point, encoded);
        // A character is never cut in two.
        if (used_ + bytes > kMaxWord)
            end_word();
        append(encoded, bytes);
    }

    void append(const uint8_t* text, int bytes) {
        memcpy(word_ + used_, text, bytes);
        used_ += bytes;
    }

    void ascii(uint8_t character) {
        uint8_t folded = kFoldAscii[character];
        if (folded == 0 || used_ == kMaxWord)
            end_word();
        if (folded != 0)
            word_[used_++] = folded;
    }

    // Where there is no current word: takes the words of the first ASCII characters, 64 at a time.
    // Returns the number of characters. A word that may continue after them becomes the current
    // one.
    size_t whole_words(const uint8_t* at, const uint8_t* end) {
        uint8_t folded[16 * kAsciiBlock + kWordRoom];
        size_t part = std::min<size_t>(end - at, sizeof(folded) - kWordRoom);
        size_t begin = 0; // of a word, where `inside`
        uint64_t inside = 0;
        for (size_t block = 0; block < part; block += kAsciiBlock) {
            size_t count = std::min(part - block, kAsciiBlock);
            uint64_t letters = letters_of(at + block, count, folded + block);
            // `edges` has a 1 where a character and the one before it differ in being a letter or
            // digit: there a word begins or ends.
            uint64_t edges = letters ^ (letters << 1 | inside);
            // Behind the end of the text there is no edge: the word may go on.
            if (count < kAsciiBlock)
                edges &= (uint64_t(1) << count) - 1;
            for (; edges != 0; edges &= edges - 1) {
                size_t edge = block + std::countr_zero(edges);
                if (inside != 0)
                    long_word(folded + begin, edge - begin);
                begin = edge;
                inside ^= 1;
            }
        }
        if (inside == 0)
            return part;
        if (begin > 0 && at + part < end)
            return begin; // the word is read again with what follows
        // The word fills all that was read, from the beginning or up to the text's end. Its whole
        // parts of kMaxWord bytes are words; the rest, 1 to kMaxWord bytes, may go on.
        size_t rest = (part - begin - 1) % kMaxWord + 1;
        long_word(folded + begin, part - begin - rest);
        memcpy(word_, folded + part - rest, rest);
        used_ = rest;
        return part;
    }

    void long_word(const uint8_t* text, size_t bytes) {
        for (; bytes > kMaxWord; text += kMaxWord, bytes -= kMaxWord)
            consumer_(text, kMaxWord);
        if (bytes > 0)
            consumer_(text, bytes);
    }

    void end_word() {
        if (used_ > 0)
            consumer_(word_, used_);
        used_ = 0;
    }

    bool in_run() const { return current_.bytes > 0; }

    // A run of spaceless characters goes on over separators. Not inlined, so that the loop over
    // words stays small.
    __attribute__((noinline)) const uint8_t* end_run_at_letter(const uint8_t* at,
                                                               const uint8_t* end) {
        at = std::find_if(at, end, [](uint8_t byte) { return kFoldAscii[byte] != 0; });
        if (at != end)
            end_run();
        return at;
    }

    void spaceless(uint32_t code_point, CharacterKind kind) {
        if (kind == kSpaceless) {
            if (in_run())
                end_cluster();
            else
                end_word();
        }
        if (code_point == kVoiced || code_point == kSemiVoiced)
            code_point = composed_with_current(code_point);
        if (current_.bytes + 4 <= int(sizeof(current_.text)))
            current_.bytes += encode_utf8(code_point, current_.text + current_.bytes);
    }

    // The voicing marks of Kana. One that a line break cut off its letter still composes with it,
    // and "が", in place of "か", is returned. Otherwise the mark is. Not inlined: it is rare.
    static constexpr uint32_t kVoiced = 0x3099, kSemiVoiced = 0x309A;
    __attribute__((noinline)) uint32_t composed_with_current(uint32_t mark) {
        const uint8_t *behind = current_.text, *end = current_.text + current_.bytes;
        uint32_t letter = decode_utf8(behind, end);
        uint32_t composed = behind == end ? composite(letter, mark) : 0;
        if (composed == 0)
            return mark;
        current_.bytes = 0;
        return composed;
    }

    // The current character is complete, with its marks. It makes a pair with one before, if any.
    void end_cluster() {
        if (previous_.bytes > 0)
            pair();
        previous_ = current_;
        current_.bytes = 0;
    }

    // The pair is a word: it counts as one piece for shingles.
    void pair() {
        append(previous_.text, previous_.bytes);
        append(current_.text, current_.bytes);
        end_word();
    }

    void end_run() {
        if (!in_run())
            return;
        if (previous_.bytes == 0)
            append(current_.text, current_.bytes); // a character alone
        else
            pair();
        end_word();
        previous_.bytes = current_.bytes = 0;
    }

    Consumer& consumer_;
    uint8_t word_[kMaxWord + 1]; // the current word
    size_t used_ = 0;            // bytes of it
    Cluster previous_, current_; // of a run of spaceless characters
};

// Shingles of words: a consumer of words.
template <typename Consumer>
class Shingles {
  public:
    Shingles(Consumer& consumer, int width) : window_(consumer, width) {}

    void operator()(const uint8_t* text, size_t bytes) {
        if (any_)
            window_.add_space();
        any_ = true;
        copy_word(window_.room(), text, bytes);
        window_.add(bytes);
    }
    void finish() { window_.finish(); }

  private:
    PieceWindow<Consumer> window_;
    bool any_ = false;
};

// Character n-grams over the words. There is one space between two words of scripts that use
// spaces, and none if a script without spaces or a pictograph is on either side, so that line
// breaks in Chinese do not matter.
template <typename Consumer>
class CharacterCutter {
  public:
    CharacterCutter(Consumer& consumer, int width) : window_(consumer, width) {}

    void ascii(const uint8_t* at, const uint8_t* end) {
        for (; at < end; at++) {
            uint8_t folded = kFoldAscii[*at];
            if (folded != 0)
                piece(folded, true);
            else
                gap_ = true;
        }
    }

    void character(uint32_t code_point, CharacterKind kind) {
        if (kind == kSeparator)
            gap_ = true;
        else // a mark is as the character before it
            piece(code_point, kind == kLetter || (kind == kMark && after_spaced_));
    }

    void finish() { window_.finish(); }

  private:
    void piece(uint32_t code_point, bool spaced) {
        // A run of separators gives one space at most, and none at the beginning.
        if (gap_ && spaced && after_spaced_)
            add(' ');
        gap_ = false;
        after_spaced_ = spaced;
        add(code_point);
    }

    void add(uint32_t code_point) { window_.add(size_t(encode_utf8(code_point, window_.room()))); }

    PieceWindow<Consumer> window_;
    bool gap_ = false;          // a separator was read since the last piece
    bool after_spaced_ = false; // the last piece is of a script that uses spaces
};

} // namespace simhash
