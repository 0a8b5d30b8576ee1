#!/usr/bin/perl
# Reads the names of files, each ended by NUL, and prints the files as lines for COPY (name, body), in valid UTF-8 without NUL. A
# file that is not UTF-8 is taken for Latin-1, which has a character for every byte. A file that is not text is left out and
# counted. Needs no module, so that Debian's perl-base is enough.
use strict;
use warnings;

my $largest = 64 << 20;                     # bytes of a file
my %escape = ("\\" => '\\\\', "\t" => '\\t', "\n" => '\\n', "\r" => '\\r');
my %left_out;
my $count = 0;

# As UTF-8 that PostgreSQL accepts: no surrogates, nothing above U+10FFFF.
sub as_utf8
{
    my ($bytes) = @_;
    my $text = $bytes;
    if (!utf8::decode($text) || $text =~ /[\x{D800}-\x{DFFF}\x{110000}-\x{7FFFFFFF}]/)
    {
        $text = $bytes;
    }
    utf8::encode($text);
    return $text;
}

sub copy_field
{
    my ($bytes) = @_;
    my $text = as_utf8($bytes);
    $text =~ s/([\\\t\n\r])/$escape{$1}/g;
    return $text;
}

# The file's bytes, or nothing where it is not to be loaded.
sub document
{
    my ($name) = @_;
    my $size = -s $name;
    return leave_out('cannot be read') unless defined $size && open(my $file, '<:raw', $name);
    return leave_out('are larger than 64 MB') if $size > $largest;
    my $bytes = '';
    my $got = read($file, $bytes, $largest);
    close $file;
    return leave_out('cannot be read') unless defined $got;
    return leave_out('are empty') if $bytes eq '';
    return leave_out('are not text (they have NUL bytes)') if index($bytes, "\0") >= 0;
    return $bytes;
}

sub leave_out
{
    my ($why) = @_;
    $left_out{$why}++;
    return;
}

$| = 1;
binmode STDIN;
binmode STDOUT;
$/ = "\0";
# Progress as a line that is overwritten, on a terminal only.
my $terminal = -t STDERR;
my $shown = 0;
while (my $name = <STDIN>)
{
    chomp $name;
    my $bytes = document($name);
    next unless defined $bytes;
    print copy_field($name), "\t", copy_field($bytes), "\n";
    $count++;
    if ($terminal ? $count % 10 == 0 : $count >= 2 * $shown && $count >= 100)
    {
        $shown = $count;
        printf STDERR $terminal ? "\r  %d documents" : "  %d documents\n", $count;
    }
}
printf STDERR $terminal ? "\r  %d documents\n" : "  %d documents in all\n", $count;
print STDERR "  left out: $left_out{$_} files that $_\n" for sort keys %left_out;
