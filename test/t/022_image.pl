# scripts/image-start.sh, which containers of the image run: no server without a password that nobody asked for. What it starts is
# a stand-in that says how it was called; the cluster that it makes is a real one.
use strict;
use warnings;

use FindBin;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $script = "$FindBin::RealBin/../../scripts/image-start.sh";
my $stand_in = PostgreSQL::Test::Utils::tempdir();
append_to_file("$stand_in/postgres", qq{#!/bin/sh\necho "server: \$* password: \${POSTGRES_PASSWORD-none}"\n});
chmod 0755, "$stand_in/postgres";
# initdb takes the postgres that lies beside it, whatever the PATH says.
chomp(my $programs = `$ENV{PG_CONFIG} --bindir`);
delete @ENV{qw(POSTGRES_PASSWORD POSTGRES_HOST_AUTH_METHOD)};

sub start
{
	my ($data, %environment) = @_;
	local %ENV = (%ENV, %environment, PGDATA => $data, PATH => "$stand_in:$programs:$ENV{PATH}", LANG => 'C');
	my ($out, $err);
	IPC::Run::run([ $script, '-c', 'work_mem=1GB' ], '<', \undef, '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}

# What a connection by TCP says, by a real server on the cluster.
sub connected
{
	my ($data, $password) = @_;
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	my $sockets = PostgreSQL::Test::Utils::tempdir_short();
	system_or_bail("$programs/pg_ctl", '-D', $data, '-l', "$data/log", '-w', '-o', "-p $port -k $sockets -c listen_addresses=127.0.0.1", 'start');
	local $ENV{PGPASSWORD} = $password;
	my ($out, $err);
	IPC::Run::run([ "$programs/psql", '-XAtwq', '-h', '127.0.0.1', '-p', $port, '-c', 'SELECT 42', 'postgres' ], '<', \undef, '>', \$out, '2>', \$err);
	system_or_bail("$programs/pg_ctl", '-D', $data, '-w', '-m', 'immediate', 'stop');
	return "$out$err";
}

for my $environment ({}, { POSTGRES_PASSWORD => '' }, { POSTGRES_HOST_AUTH_METHOD => 'md5' })
{
	my $data = PostgreSQL::Test::Utils::tempdir() . '/data';
	my ($status, $out, $err) = start($data, %$environment);
	my $what = join ' ', 'with', %$environment ? %$environment : 'nothing set,';
	is($status, 1, "$what it fails");
	like($err, qr/^Error: .*Set POSTGRES_PASSWORD/ms, "$what it says what to do");
	ok($out eq '' && !-e $data, "$what there is no cluster and no server");
}

my $data = PostgreSQL::Test::Utils::tempdir() . '/data';
my $password = q{a\tb "c" $d '};
my ($status, $out, $err) = start($data, POSTGRES_PASSWORD => $password);
is($status, 0, 'with a password it starts');
like($out, qr/^server: -D \Q$data\E -c listen_addresses=\* -c work_mem=1GB password: none$/m, 'the server gets the arguments, and not the password');
is($err =~ /WARNING/ ? $err : '', '', 'without a warning');
is(connected($data, $password), "42\n", 'the password is the one that was set');
like(connected($data, 'other'), qr/password authentication failed/, 'another one is refused');
like(slurp_file("$data/pg_hba.conf"), qr/^host all all all scram-sha-256$/m, 'other machines may connect');
my $rules = slurp_file("$data/pg_hba.conf");
($status, $out, $err) = start($data);
is($status, 0, 'the second start needs no password');
like($out, qr/^server: -D \Q$data\E /, 'and makes no cluster');
is(slurp_file("$data/pg_hba.conf"), $rules, 'and changes nothing');

$data = PostgreSQL::Test::Utils::tempdir() . '/data';
($status, $out, $err) = start($data, POSTGRES_HOST_AUTH_METHOD => 'trust');
is($status, 0, 'it starts without a password where that was asked for');
like($err, qr/WARNING: .*all rights.*without a password/s, 'with a warning');
is(connected($data, ''), "42\n", 'and lets everybody in');
done_testing();
