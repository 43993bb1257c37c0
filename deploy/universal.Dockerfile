# The universal image: what most repositories need. Node, Python, Go, Rust and Java with their package managers, a C compiler, and a browser that needs
# no screen. All versions are pinned here; Python and the browser have those of the Debian release. Build it from the repository's folder:
#   docker build --file deploy/universal.Dockerfile --tag flightdeck/universal deploy
# CONTAINER_IMAGE=flightdeck/universal uses it for container sandboxes, and RUNNER_BASE=flightdeck/universal in .env for the runner's image.
ARG NODE_IMAGE=node:24-bookworm-slim
ARG GO_IMAGE=golang:1.24-bookworm
ARG RUST_IMAGE=rust:1.88-slim-bookworm
ARG JAVA_IMAGE=eclipse-temurin:21-jdk
ARG MAVEN_IMAGE=maven:3.9-eclipse-temurin-21
ARG GRADLE_IMAGE=gradle:8.14-jdk21

FROM ${GO_IMAGE} AS go
FROM ${RUST_IMAGE} AS rust
FROM ${JAVA_IMAGE} AS java
FROM ${MAVEN_IMAGE} AS maven
FROM ${GRADLE_IMAGE} AS gradle

FROM ${NODE_IMAGE}
RUN apt-get update \
  && apt-get install -y --no-install-recommends build-essential ca-certificates chromium curl git patch perl pkg-config procps \
    python3 python3-dev python3-pip python3-venv ripgrep ruby ruby-dev bundler \
  && rm -rf /var/lib/apt/lists/*
# Everything is below /usr, which every kind of sandbox shows.
COPY --from=go /usr/local/go /usr/local/go
COPY --from=rust /usr/local/rustup/toolchains /usr/local/rust
COPY --from=java /opt/java/openjdk /usr/local/java
COPY --from=maven /usr/share/maven /usr/local/maven
COPY --from=gradle /opt/gradle /usr/local/gradle
RUN ln -s /usr/local/go/bin/* /usr/local/rust/*/bin/* /usr/local/java/bin/* /usr/local/maven/bin/mvn /usr/local/gradle/bin/gradle /usr/local/bin/
