# Two stages on the same base, so that what is compiled in the first runs in the second.

FROM node:20-bookworm-slim AS build
# better-sqlite3 fetches a prebuilt binary when it is installed, and compiles itself where there is none to fetch.
RUN apt-get update \
  && apt-get install -y --no-install-recommends g++ make python3 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# Dependencies before sources: a change of the sources alone does not install them again. Their install scripts run because
# allowScripts in package.json names them; newer versions of npm run no others.
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY drizzle ./drizzle
RUN npm run build
# What only the build needs stays behind. Files that were private in the checkout become readable to the service's user.
RUN npm prune --omit=dev \
  && rm -rf node_modules/better-sqlite3/deps node_modules/better-sqlite3/src node_modules/better-sqlite3/build/Release/obj* \
  && chmod -R a+rX dist drizzle package.json node_modules

FROM node:20-bookworm-slim
ENV NODE_ENV=production \
  HOST=0.0.0.0 \
  PORT=8787 \
  RLM_MEMORY_DB=/data/rlm-memory.db
WORKDIR /app
# Before VOLUME: a new volume takes over owner and mode of the directory that it covers.
RUN install -d -o node -g node -m 0700 /data
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/drizzle ./drizzle
COPY --from=build /app/dist ./dist
USER node
VOLUME /data
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8787) + '/health/ready').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# No npm in between: the service itself gets the signal to stop.
CMD ["node", "dist/server.js"]
