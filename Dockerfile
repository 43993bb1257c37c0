# The images of Flightdeck: `service` for command, query and gateway, and `runner`, the last, which holds all that the product can do.
ARG NODE_IMAGE=node:24-bookworm-slim
# What the runner's image is made from: its programs are those that agents find in their sandbox. deploy/universal.Dockerfile makes one with many.
ARG RUNNER_BASE=${NODE_IMAGE}

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM packages AS build
RUN --mount=type=cache,target=/root/.npm npm ci
COPY . .
RUN npm run build

FROM packages AS runner-packages
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev

# The claude program is larger than all other packages together, and only a runner starts it. Without optional packages, sharp would have no libvips.
FROM runner-packages AS service-packages
RUN rm -rf node_modules/@anthropic-ai

FROM ${NODE_IMAGE} AS service
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=service-packages /app/node_modules node_modules
COPY --from=build /app/dist dist
# For the file of seals, on a volume.
RUN install -d -o node -g node -m 700 /seals
USER node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/server/main.js"]

FROM ${RUNNER_BASE} AS runner
# Debian packages that agents are to find in their sandbox besides these: compilers, interpreters.
ARG AGENT_PACKAGES=
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git openssh-client ripgrep ${AGENT_PACKAGES} \
  && rm -rf /var/lib/apt/lists/*
# A shell command that puts cursor-agent on PATH. Cursor's installer is a download from Cursor and no package; so nothing by default.
ARG CURSOR_INSTALL=
RUN if [ -n "${CURSOR_INSTALL}" ]; then HOME=/usr/local sh -euc "${CURSOR_INSTALL}"; fi
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=runner-packages /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN install -d -o node -g node -m 700 /data
USER node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
# Each container gets one of its own: a data folder is for one process.
VOLUME /data
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/server/main.js"]
