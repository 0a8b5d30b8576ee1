# The extension alone, as CloudNativePG mounts it into a server (PostgreSQL 18 and later):
#   docker build -t simhash-extension -f packaging/extension-image.Dockerfile .      (--build-arg PG_MAJOR=19)
# A cluster of the base image names it under postgresql.extensions. On another server, where its files are in /extensions/simhash:
#   extension_control_path = '/extensions/simhash/share:$system'
#   dynamic_library_path = '/extensions/simhash/lib:$libdir'
ARG PG_MAJOR=18
ARG BASE=ghcr.io/cloudnative-pg/postgresql:${PG_MAJOR}-minimal-trixie
FROM $BASE AS build
ARG PG_MAJOR
USER root
COPY . /build/simhash
WORKDIR /build/simhash
RUN apt-get update && apt-get install -y --no-install-recommends g++ make libxxhash-dev "postgresql-server-dev-$PG_MAJOR"
ENV PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
RUN make && make install DESTDIR=/installed && \
    install -D -t /image/lib "/installed$($PG_CONFIG --pkglibdir)/simhash.so" && \
    install -D -m 644 -t /image/share/extension "/installed$($PG_CONFIG --sharedir)"/extension/simhash* && \
    install -D -m 644 -t /image/licenses LICENSE

FROM scratch
COPY --from=build /image/ /
