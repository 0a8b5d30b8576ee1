#!/bin/sh
# What a container of the image runs (Dockerfile): makes the database cluster at the first start, and
# then becomes the server. Arguments are the server's, as in  docker run ... simhash-start -c work_mem=1GB
set -eu
data=${PGDATA:-/var/lib/postgresql/data}

# The lines of initdb admit connections from the container itself only.
admit_all() {
	echo "host all all all $1" >>"$data/pg_hba.conf"
}

make_cluster() {
	if [ -n "${POSTGRES_PASSWORD:-}" ]; then
		# Not echo, which takes a backslash for the beginning of an escape.
		printf '%s\n' "$POSTGRES_PASSWORD" |
			initdb -D "$data" --pwfile=/dev/stdin --auth-host=scram-sha-256 --auth-local=peer
		admit_all scram-sha-256
	elif [ "${POSTGRES_HOST_AUTH_METHOD:-}" = trust ]; then
		cat >&2 <<-'END'
			********************************************************************************
			WARNING: POSTGRES_HOST_AUTH_METHOD is "trust", and the server listens everywhere.
			         Whoever reaches its port has all rights in it, without a password.
			         Set POSTGRES_PASSWORD instead: -e POSTGRES_PASSWORD=secret
			********************************************************************************
		END
		initdb -D "$data" --auth-host=trust --auth-local=peer
		admit_all trust
	else
		cat >&2 <<-'END'
			Error: The database cluster is not made, as its superuser would have no password.
			       Set POSTGRES_PASSWORD to one that is not empty: -e POSTGRES_PASSWORD=secret
			       To let everybody in without a password, which is not recommended, set
			       POSTGRES_HOST_AUTH_METHOD=trust.
		END
		exit 1
	fi
}

if [ ! -e "$data/PG_VERSION" ]; then
	make_cluster
fi
unset POSTGRES_PASSWORD
exec postgres -D "$data" -c listen_addresses='*' "$@"
