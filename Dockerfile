# A PostgreSQL server with simhash, of Debian's packages.
#   docker build -t simhash .                  (--build-arg SUITE=bookworm for that suite's server)
#   docker run --name docs -e POSTGRES_PASSWORD=secret -p 5432:5432 -v docs:/var/lib/postgresql -d simhash
#   docker exec -it docs psql
ARG SUITE=trixie
FROM debian:$SUITE-slim AS build
ENV DEBIAN_FRONTEND=noninteractive DEB_BUILD_OPTIONS=nocheck DEB_BUILD_PROFILES=nocheck
COPY . /build/simhash
WORKDIR /build/simhash
RUN apt-get update && apt-get install -y --no-install-recommends dpkg-dev && apt-get build-dep -y --no-install-recommends .
RUN dpkg-buildpackage -us -uc -b

FROM debian:$SUITE-slim
COPY --from=build /build/postgresql-*-simhash_*.deb /packages/
# Debian's own cluster is not made: its settings would lie outside of the volume.
RUN mkdir -p /etc/postgresql-common && echo create_main_cluster=false >/etc/postgresql-common/createcluster.conf && \
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /packages/*.deb && \
    ln -s /usr/lib/postgresql/*/bin/initdb /usr/lib/postgresql/*/bin/postgres /usr/local/bin/ && \
    rm -rf /packages /var/lib/apt/lists/*
USER postgres
ENV LANG=C.UTF-8
VOLUME /var/lib/postgresql
EXPOSE 5432
STOPSIGNAL SIGINT
# The first start makes the cluster, for whoever knows POSTGRES_PASSWORD; it is refused without one.
COPY scripts/image-start.sh /usr/local/bin/simhash-start
CMD ["simhash-start"]
