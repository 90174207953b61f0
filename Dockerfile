# Builds the package in a checkout, or takes the one beside this file, and runs it as an ordinary user. The root file system may be read-only: all state is in /data.
# NODE_IMAGE has to be glibc (isolated-vm and Anvil have no binaries for musl), for x64 or arm64.
ARG NODE_IMAGE=node:26-bookworm-slim

FROM ${NODE_IMAGE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential python3
WORKDIR /build
COPY . .
# A checkout is packed first: install scripts are for tests, and packing needs none of them. Otherwise this folder holds the package.
RUN mkdir /package && if [ -e package.json ]; \
  then npm ci --ignore-scripts --no-audit --no-fund && npm pack --pack-destination /package; \
  else cp tyche-*.tgz /package; fi
WORKDIR /app
RUN npm init -y >/dev/null && npm install --no-audit --no-fund /package/tyche-*.tgz && npm cache clean --force

FROM ${NODE_IMAGE}
RUN useradd --system --uid 10001 --user-group --no-create-home tyche && install -d -o tyche -g tyche -m 700 /data
COPY --from=build /app /app
# Presets are read from /app/plugins, beside the built-in ones.
WORKDIR /app
ENV HOST=0.0.0.0 TYCHE_DATA_DIR=/data PATH=/app/node_modules/.bin:$PATH
USER tyche
VOLUME /data
EXPOSE 3000
# Not by Node, which takes 0.1 s of a processor for it, and on a busy machine seconds.
HEALTHCHECK --interval=10s --timeout=10s --start-period=300s \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${PORT:-3000} && printf 'GET /readyz HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["node", "/app/node_modules/tyche/bin/tyche.js"]
CMD ["start"]
