# The image of Flightdeck: built with everything, shipped with what runs.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM packages AS build
RUN --mount=type=cache,target=/root/.npm npm ci
COPY . .
RUN npm run build

FROM packages AS runtime
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev

FROM node:24-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json LICENSE ./
COPY scripts/container.js scripts/
COPY --from=runtime /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN install -d -o node -g node -m 700 /data
USER node
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
VOLUME /data
EXPOSE 8080 8081
HEALTHCHECK --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "scripts/container.js"]
