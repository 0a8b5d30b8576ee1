#!/usr/bin/perl
# Writes the page of report.sh, from rows in the form of COPY, the first field of which says what a row is about. Needs no module,
# so that Debian's perl-base is enough. Whatever comes from the database is escaped; the page forbids scripts and addresses.
use strict;
use warnings;
use utf8;

my ($database, $query, $least) = map { utf8::decode($_); $_ } @ARGV;
my $longest = 6_000;     # characters of a text that are shown
my %unescape = (t => "\t", n => "\n", r => "\r", b => "\b", f => "\f", v => "\x0b", '\\' => '\\');

# ---- what the database says ----

my $complete;
my (%count, @sizes, @similarities, @groups, %members, @pairs, %passages);
binmode STDIN;
binmode STDOUT, ':utf8';
while (my $line = <STDIN>)
{
    chomp $line;
    utf8::decode($line);
    my ($what, @fields) = map { $_ eq '\\N' ? undef : s/\\(.)/$unescape{$1} \/\/ $1/gesr } split /\t/, $line, -1;
    if    ($what eq 'documents')  { @count{qw(documents without bytes)} = @fields; }
    elsif ($what eq 'groups')     { @count{qw(groups copies equal)} = @fields; }
    elsif ($what eq 'end')        { $complete = 1; }
    elsif ($what eq 'size')       { push @sizes, \@fields; }
    elsif ($what eq 'similarity') { push @similarities, \@fields; }
    elsif ($what eq 'group')      { push @groups, \@fields; }
    elsif ($what eq 'member')     { push @{ $members{ shift @fields } }, \@fields; }
    elsif ($what eq 'pair')       { push @pairs, \@fields; }
    elsif ($what eq 'passage')    { push @{ $passages{ shift @fields } }, \@fields; }
}
# psql has said what is wrong.
exit 1 unless $complete;

# ---- parts of the page ----

sub escaped
{
    my ($text) = @_;
    my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', "'" => '&#39;');
    # What no page may contain, and what would turn the direction of the text after it.
    $text =~ s/[^\t\n\r\x20-\x7e\xa0-\x{d7ff}\x{e000}-\x{fffd}\x{10000}-\x{10ffff}]|[\x{202a}-\x{202e}\x{2066}-\x{2069}]/\x{fffd}/g;
    return $text =~ s/([&<>"'])/$entity{$1}/gr;
}

# 12 345
sub digits { my ($n) = @_; return reverse(reverse($n) =~ s/(\d{3})(?=\d)/$1\x{202f}/gr) . ''; }
sub counted { my ($n, $one, $many) = @_; return digits($n) . ' ' . ($n == 1 ? $one : $many); }

# 12k: what fits above a column.
sub rounded { my ($n) = @_; return $n < 1000 ? $n : sprintf($n < 9950 ? '%.1fk' : '%.0fk', $n / 1000); }

# Down, as 0.9996 is not 1.
sub similarity { my ($s) = @_; return $s == 1 ? '1' : sprintf('%.3f', int($s * 1000 + 1e-6) / 1000); }

# Columns, each [label, value].
sub plot
{
    my ($title, $axis, @columns) = @_;
    my ($width, $height, $step) = (640, 200, 640 / (@columns || 1));
    my ($top) = sort { $b <=> $a } 1, map { $_->[1] } @columns;
    my $svg = '';
    for my $i (0 .. $#columns)
    {
        my ($label, $value) = @{ $columns[$i] };
        my $bar = $value == 0 ? 0 : 2 + $value / $top * ($height - 30);
        my $middle = ($i + .5) * $step;
        $svg .= sprintf(qq{<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s: %s</title></rect>\n},
            $i * $step + $step * .1, $height - $bar, $step * .8, $bar, escaped($label), digits($value));
        $svg .= sprintf(qq{<text x="%.1f" y="%.1f">%s</text>\n}, $middle, $height - $bar - 5, rounded($value)) if $value > 0;
        # Labels of many columns would touch.
        $svg .= sprintf(qq{<text x="%.1f" y="%d">%s</text>\n}, $middle, $height + 16, escaped($label)) if @columns < 12 || $i % 5 == 0;
    }
    return sprintf(qq{<figure><figcaption>%s</figcaption>\n<svg viewBox="0 0 %d %d" role="img" aria-label="%s">\n}
        . qq{%s<text x="%d" y="%d">%s</text>\n</svg></figure>\n},
        escaped($title), $width, $height + 40, escaped($title), $svg, $width / 2, $height + 36, escaped($axis));
}

# 2, 3, 4, up to 8, up to 16, ...: as many columns as the largest group needs.
sub size_columns
{
    my (@columns, $from);
    my ($largest) = sort { $b <=> $a } 4, map { $_->[0] } @sizes;
    for ($from = 2; $from <= $largest;)
    {
        my $to = $from < 5 ? $from : 2 * ($from - 1);
        my $sum = 0;
        $sum += $_->[1] for grep { $_->[0] >= $from && $_->[0] <= $to } @sizes;
        push @columns, [ $from == $to ? $from : '≤ ' . digits($to), $sum ];
        $from = $to + 1;
    }
    return @columns;
}

# One for each hundredth, or for each twentieth where these would be many; 1 by itself.
sub similarity_columns
{
    my $first = int($least * 100 + 1e-9);
    my $step = $first >= 80 ? 1 : 5;
    my @columns;
    for (my $from = $first - $first % $step; $from < 100; $from += $step)
    {
        my $sum = 0;
        $sum += $_->[1] for grep { $_->[0] >= $from && $_->[0] < $from + $step } @similarities;
        push @columns, [ sprintf('%.2f', $from / 100), $sum ];
    }
    my ($equal) = map { $_->[1] } grep { $_->[0] == 100 } @similarities;
    return (@columns, [ '1', $equal // 0 ]);
}

# A long run of text without its middle.
sub shortened
{
    my ($text, $most) = @_;
    return escaped($text) if length($text) <= $most;
    my $half = int($most / 2);
    my $left_out = length($text) - 2 * $half;
    return escaped(substr($text, 0, $half)) . '<i> … ' . digits($left_out) . ' characters … </i>' . escaped(substr($text, -$half));
}

# A text with its passages, each a [start from 0, length, number, colour], marked, and linked with the other text's.
sub marked
{
    my ($text, $pair, $side, $other, @passages) = @_;
    my ($html, $shown, $at) = ('', 0, 0);
    my $add = sub {
        my ($from, $to, $most) = @_;
        return '' if $to <= $from;
        $shown += $to - $from < $most ? $to - $from : $most;
        return shortened(substr($text, $from, $to - $from), $most);
    };
    for (sort { $a->[0] <=> $b->[0] } @passages)
    {
        my ($start, $length, $number) = @$_;
        $html .= $add->($at, $start, 1_500);
        # In scripts without spaces adjacent passages may share a character.
        $start = $at if $start < $at;
        my $end = $_->[0] + $length;
        last if $shown >= $longest;
        $html .= sprintf('<a class="c%d" id="%s%d-%d" href="#%s%d-%d">%s</a>', $number % 4, $side, $pair, $number, $other, $pair, $number,
            $add->($start, $end, 400)) if $end > $start;
        $at = $end if $end > $at;
    }
    $html .= $add->($at, length($text), 1_500) if $shown < $longest;
    $html .= '<i> … ' . digits(length($text) - $at) . ' characters more</i>' if $shown >= $longest && $at < length($text);
    return $html;
}

# ---- the page ----

my $copies = $count{documents} ? sprintf('%.1f %%', 100 * $count{copies} / $count{documents}) : '0 %';
print <<"HTML";
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Near-duplicates in ${\ escaped($database)}</title>
<style>
:root { color-scheme: light; }
body { font: 16px/1.45 system-ui, sans-serif; color: #1d2530; background: #fff; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; } h3 { font-size: 1rem; margin: 2rem 0 .4rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
.numbers { display: flex; flex-wrap: wrap; gap: 1rem; padding: 0; list-style: none; }
.numbers li { background: #eef2f7; border-radius: .4rem; padding: .6rem 1rem; }
.numbers b { display: block; font-size: 1.5rem; }
.plots, .pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 1.5rem; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .5rem; }
svg { width: 100%; } rect { fill: #3b6ea5; } svg text { font-size: 13px; text-anchor: middle; fill: #1d2530; }
table { border-collapse: collapse; width: 100%; } td { padding: .1rem .8rem .1rem 0; vertical-align: top; overflow-wrap: anywhere; }
td:first-child { width: 5rem; color: #55606e; font-variant-numeric: tabular-nums; }
.pair pre { border: 1px solid #cdd5df; border-radius: .4rem; padding: .7rem; font: 14px/1.5 ui-monospace, monospace; max-height: 36rem; overflow: auto; }
.pair h4 { margin: 0 0 .3rem; font-size: .9rem; overflow-wrap: anywhere; }
pre a { color: inherit; text-decoration: none; } pre a:target { outline: 2px solid #1d2530; }
.c0 { background: #d3e9c8; } .c1 { background: #cfe3f7; } .c2 { background: #fbe5b6; } .c3 { background: #ead7f2; }
i, .muted, summary { color: #55606e; }
</style>
</head>
<body>
<h1>Near-duplicates in ${\ escaped($database)}</h1>
<pre class="muted">${\ escaped(length($query) > 2000 ? substr($query, 0, 2000) . ' …' : $query)}</pre>
<p>Two documents are near-duplicates if they share at least ${\ escaped($least)} of their shingles, the sequences of three words.
Each document joins the first one, in the order of the query, of which it is a near-duplicate: the <em>original</em> of its group.</p>
<ul class="numbers">
<li><b>${\ digits($count{documents})}</b> documents</li>
<li><b>${\ digits(sprintf('%.0f', $count{bytes} / 1000))}</b> kB of text</li>
<li><b>${\ digits($count{groups})}</b> groups of two or more</li>
<li><b>${\ digits($count{copies})}</b> copies ($copies)</li>
<li><b>${\ digits($count{equal})}</b> of them equal to the original in words</li>
</ul>
HTML
print '<p>', counted($count{without}, 'document is', 'documents are'), " NULL.</p>\n" if $count{without};
if (!@groups)
{
    print "<p>There are no near-duplicates.</p>\n";
}
else
{
    print '<div class="plots">', "\n", plot('How large the groups are', 'documents of a group', size_columns()),
        plot('How alike copies are to their originals', 'similarity', similarity_columns()), "</div>\n";
    print qq{<p>Further down: <a href="#pairs">texts side by side</a>.</p>\n} if @pairs;
    my %has_pair = map { $_->[0] => 1 } @pairs;
    print @groups < $count{groups} ? '<h2>The ' . @groups . " largest groups</h2>\n" : "<h2>Groups</h2>\n";
    for (@groups)
    {
        my ($rank, $size) = @$_;
        print "<h3>$rank. ", digits($size), ' documents', ($has_pair{$rank} ? qq{ (<a href="#pair$rank">side by side</a>)} : ''), "</h3>\n<table>\n";
        my @rows = map { '<tr><td>' . (defined $_->[0] ? similarity($_->[0]) : 'original') . '</td><td>' . escaped($_->[1]) . "</td></tr>\n" }
            @{ $members{$rank} };
        my $rest = $size - @rows;
        my @first = splice @rows, 0, 6;
        print @first, "</table>\n";
        print '<details><summary>', digits($size - @first), " more</summary>\n<table>\n", @rows,
            ($rest ? '<tr><td></td><td>and ' . digits($rest) . " that are not listed</td></tr>\n" : ''), "</table></details>\n" if @rows;
    }
    print qq{<h2 id="pairs">Side by side</h2>\n};
    print @pairs ? '<p>Of each group the original and the copy that is least like it. What both have, three words or more, has a colour; '
        . "a click leads to it in the other text.</p>\n" : "<p>Every copy is equal to its original in words.</p>\n";
    for (@pairs)
    {
        my ($rank, $similarity, $a_name, $b_name, $a, $b) = @$_;
        my @rows = @{ $passages{$rank} // [] };
        my @of_a = map { [ $rows[$_][0] - 1, $rows[$_][1], $_ ] } 0 .. $#rows;
        my @of_b = map { [ $rows[$_][2] - 1, $rows[$_][3], $_ ] } 0 .. $#rows;
        print qq{<h3 id="pair$rank">Group $rank: similarity }, similarity($similarity), qq{</h3>\n<div class="pair">\n};
        print '<div><h4>', escaped($a_name), '</h4><pre>', marked($a, $rank, 'a', 'b', @of_a), "</pre></div>\n";
        print '<div><h4>', escaped($b_name), '</h4><pre>', marked($b, $rank, 'b', 'a', @of_b), "</pre></div>\n</div>\n";
    }
}
print "</body>\n</html>\n";
