#!/usr/bin/perl
# Reads the server's log of a run of SQLsmith: what ran, what failed, and whether anything must not
# have happened, in which case it shows the statement and ends with status 1.
#
#   report.pl PATTERN LOG      PATTERN matches a statement with one of our functions
use strict;
use warnings;

my ($pattern, $log) = @ARGV;
# Of operators, <~>, those of schema.sql and ~|= are nobody else's. Those that have a namesake
# elsewhere (~=, <@, @>) do not count.
my $ours = qr/$pattern|<~[|#]*>|~\|+=/;

# A statement may run so long after its cancellation that nobody would call it cancelled.
my $hanging_seconds = 60;

my ($statements, $with_ours, $written, $longest) = (0, 0, 0, 0);
my (%statement, %begun, %errors, %internal, %failures, $longest_statement);

sub show_failure {
    my ($what, $pid) = @_;
    # One of a kind is enough.
    return if $failures{ $what =~ s/\d+/N/gr }++;
    print "\nFAILED: $what\n";
    print "statement:\n$statement{$pid}\n\n" if defined $pid && defined $statement{$pid};
}

sub count_time {
    my ($pid, $time) = @_;
    my $begun = delete $begun{$pid} or return;
    my $took = $time - $begun;
    ($longest, $longest_statement) = ($took, $statement{$pid}) if $took > $longest;
}

my %error;    # by process: the error whose DETAIL, CONTEXT, LOCATION are still to come

sub entry {
    my ($pid, $time, $sqlstate, $application, $severity, $text) = @_;
    if ($severity eq 'LOG' && $text =~ s/^00000: +statement: //) {
        count_time($pid, $time);
        return if $application !~ /::dut$/ || $text =~ /^(BEGIN|ROLLBACK|set) ?/;
        $statement{$pid} = $text;
        $begun{$pid} = $time;
        $statements++;
        $with_ours++ if $text =~ $ours;
        $written++ if $text =~ /^(insert|update|delete|merge)\b/i;
    }
    elsif ($severity eq 'ERROR' || $severity eq 'FATAL') {
        $text =~ s/^\w{5}: +//;
        $error{$pid} = { sqlstate => $sqlstate, text => $text };
        return if $application !~ /::dut$/;
        $errors{$sqlstate}{count}++;
        $errors{$sqlstate}{example} //= (split /\n/, $text)[0];
    }
    elsif ($severity eq 'PANIC') {
        show_failure("PANIC: $text", $pid);
    }
    elsif ($severity eq 'LOCATION' && $error{$pid}) {
        my $error = delete $error{$pid};
        return if $error->{sqlstate} !~ /^XX/;
        my $what = "$error->{sqlstate} $error->{text} ($text)";
        # Of all sources only ours are C++.
        if ($text =~ /\.[ch]pp:/ || $error->{text} =~ /simhash|hamming/) {
            show_failure($what, $pid);
        }
        else {
            $internal{$what}++;
            $internal{$what} == 1 and print "internal error of the server: $what\n"
                . ($statement{$pid} && $statement{$pid} =~ $ours ? "$statement{$pid}\n\n" : "\n");
        }
    }
    elsif ($severity eq 'LOG' && $text =~ /\(PID (\d+)\) (was terminated by .*)/) {
        show_failure("a server process $2", $1);
    }
}

open my $file, '<', $log or die "$log: $!\n";
my @entry;
while (my $line = <$file>) {
    chomp $line;
    if ($line =~ /^(\d+) (\d+\.\d+) (\w{5}) (.*?): ([A-Z]+):  ?(.*)$/) {
        entry(@entry) if @entry;
        @entry = ($1, $2, $3, $4, $5, $6);
    }
    elsif ($line =~ /^TRAP: /) {
        my ($pid) = $line =~ /PID: (\d+)/;
        entry(@entry) if @entry;
        @entry = ();
        show_failure($line, $pid);
    }
    elsif (@entry) {
        $entry[5] .= "\n" . ($line =~ s/^\t//r);
    }
}
entry(@entry) if @entry;

show_failure("a statement ran for $longest seconds") if $longest > $hanging_seconds;
print "$longest_statement\n\n" if $longest > $hanging_seconds;
show_failure("SQLsmith ran no statement with a function or operator of ours") if !$with_ours;

printf "statements: %d, with functions or operators of ours: %d (%.0f %%), that write: %d\n",
    $statements, $with_ours, 100 * $with_ours / ($statements || 1), $written;
my (%classes, $all);
for my $sqlstate (keys %errors) {
    $classes{ substr $sqlstate, 0, 2 } += $errors{$sqlstate}{count};
    $all += $errors{$sqlstate}{count};
}
printf "errors: %d, by class: %s\n", $all // 0,
    join ', ', map { "$_ $classes{$_}" } sort { $classes{$b} <=> $classes{$a} } keys %classes;
for my $sqlstate (sort { $errors{$b}{count} <=> $errors{$a}{count} } keys %errors) {
    printf "  %s %6d  such as: %s\n", $sqlstate, $errors{$sqlstate}{count},
        substr $errors{$sqlstate}{example}, 0, 80;
}
printf "longest statement: %.1f s\n", $longest;
exit(%failures ? 1 : 0);
