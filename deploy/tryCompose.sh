#!/usr/bin/env bash
# Tries Dockerfile, compose.yaml, the units and the commands of docs/deploy.md, as they are, with a Docker engine that reaches no registry of images.
#   deploy/tryCompose.sh [images] [embedded] [domain] [upgrade] [restore] [public] [upgradePublic] [nodes] [sandbox] [systemd]     all of them by default; as root, on Debian
# Needs docker, docker compose, debootstrap, npm, jq, and the ports 80, 443 and 3000. Base images are stand-ins made from Debian's packages.
# It removes the containers and volumes of the compose project "trytyche" (after a failure: at the next run), and replaces the images that these name.
set -Eeuo pipefail
shopt -s inherit_errexit
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
cd "$(dirname "$0")/.."
: "${EARLIER:=$(git log -1 --format=%h -- src/store/migrations.ts)^}" # the commit that upgrades begin with; by default its database is another
export COMPOSE_PROJECT_NAME=trytyche
work=${TMPDIR:-/tmp}/trytyche
checkout=$work/checkout
url=http://127.0.0.1:3000 tls=() # of the service that is tried

say() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

# A checkout without what Git doesn't know, in which configuration may be written.
check_out() {
  rm -rf "$checkout" && mkdir -p "$checkout"
  git archive "${1:-HEAD}" | tar -x -C "$checkout"
}

images() {
  [ -e "$work/debian/usr/bin/perl" ] ||
    debootstrap --variant=minbase --include=ca-certificates,libatomic1 bookworm "$work/debian" http://deb.debian.org/debian
  # The machine's own certificates, in case that it reaches registries of packages through a proxy.
  cp /etc/ssl/certs/ca-certificates.crt "$work/debian/etc/ssl/certs/"
  tar -C "$work/debian" -c . | docker import - trytyche-debian
  npm install --global --prefix "$work/node" node@26 npm@11
  docker build --tag node:26-bookworm-slim --file - "$work/node" <<'FILE'
FROM trytyche-debian
COPY . /usr/local
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
FILE
  # PostgreSQL's own image listens on TCP only once its database is there.
  docker build --tag postgres:17 - <<'FILE'
FROM trytyche-debian
RUN echo "deb http://deb.debian.org/debian trixie main" >/etc/apt/sources.list && apt-get update && \
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql-17 && \
  install -d -o postgres -g postgres /var/lib/postgresql/data && \
  printf '%s\n' '#!/bin/sh -e' 'if [ ! -s "$PGDATA/PG_VERSION" ]; then' \
  '  echo "${POSTGRES_PASSWORD:?}" >/tmp/password' \
  '  initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8' \
  '  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"' \
  '  pg_ctl start --wait --options="-c listen_addresses="' \
  '  createdb --username="$POSTGRES_USER" "$POSTGRES_DB"' \
  '  pg_ctl stop --wait' 'fi' 'exec "$@"' >/entrypoint && chmod +x /entrypoint
ENV PGDATA=/var/lib/postgresql/data PATH=/usr/lib/postgresql/17/bin:/usr/bin:/bin
USER postgres
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["/entrypoint"]
CMD ["postgres", "-c", "listen_addresses=*"]
FILE
  docker build --tag caddy:2 - <<'FILE'
FROM trytyche-debian
RUN apt-get update && apt-get install -y --no-install-recommends caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run"]
FILE
}

compose() { (cd "$checkout" && docker compose "$@"); }
clear_all() { TYCHE_DOMAIN=x POSTGRES_PASSWORD=x docker compose --file compose.yaml --file compose.public.yaml --profile '*' down --volumes --remove-orphans; }
begin() { clear_all && check_out "$@"; }

# Prints the block of docs/deploy.md that contains these words. No person is there to confirm.
block_of() {
  local block
  block=$(awk -v words="$1" '
    /^```/ { if (inside && index(block, words)) printf "%s", block; inside = !inside; block = ""; next }
    inside { block = block $0 "\n" }' docs/deploy.md)
  [ -n "$block" ]
  echo "${block/deploy sepolia/deploy sepolia --yes}"
}

# Runs that block in the checkout.
documented() {
  local block
  block=$(block_of "$1")
  pushd "$checkout" >/dev/null
  eval "$block"
  popd >/dev/null
}

# Calls the API with $key.
call() { curl -sS --fail-with-body "${tls[@]}" -H "Authorization: $key" -H "Content-Type: application/json" "${@:2}" "$url$1"; }
flip() { call "/api/vrfv2/presets?network=sepolia&preset=coinflip" -d '{}' "$@"; }
draw() { flip | jq -e -c '.data | select(.success) | {id, parsedResult}'; }
until_ready() { until curl -s -o /dev/null --fail "${tls[@]}" "$url/readyz"; do sleep 0.5; done; }

# Runs a command while ten requests are open, and waits until all of them have their result.
amid_requests() {
  local ids id
  ids=$(for _ in 1 2 3 4 5 6 7 8 9 10; do flip -H "Prefer: respond-async" | jq -er .data.id; done)
  "$@"
  until_ready
  for id in $ids; do until call "/api/requests/$id" | jq -e '.data.state == "fulfilled"' >/dev/null; do sleep 0.5; done; done
  say "10 of 10 open requests have their result after: $*"
}
crash() { kill -KILL "$(docker inspect --format '{{.State.Pid}}' "$COMPOSE_PROJECT_NAME-$1-1")"; }
kill_and_up() { docker kill "$COMPOSE_PROJECT_NAME-$1-1" && compose up --detach --wait; }

embedded() {
  begin
  say build && compose build
  say "up, with the image of $(docker image inspect --format '{{.Size}}' tyche) bytes"
  key=$(documented "exec tyche cat /data/api-key" | tail -1)
  draw
  say "first result"
  amid_requests crash tyche
  amid_requests kill_and_up tyche
  [ "$key" = "$(compose exec tyche cat /data/api-key)" ]
}

# The same service at its domain, by two lines of .env.
domain() {
  begin
  mkdir -p "$checkout/config/plugins"
  printf '%s\n' COMPOSE_PROFILES=domain TYCHE_DOMAIN=tyche.localhost >"$checkout/.env"
  compose build
  say up && compose up --detach --wait
  meet_service tyche
  [[ $(flip | jq -r .data.shareUrl) == https://tyche.localhost/* ]]
  amid_requests kill_and_up tyche
  amid_requests kill_and_up caddy
}

# Names the version's image in .env.
tag() { sed -i '/^TYCHE_VERSION=/d' "$checkout/.env" && echo "TYCHE_VERSION=$1" >>"$checkout/.env"; }

# Puts this version in place of the earlier one as documented, and the earlier one back, which may refuse the database; each has to know a
# request of the first. $1 is the service.
exchange() {
  local before version
  before=$(draw)
  docker tag tyche tyche:former # an earlier version's files may name no tag
  find "$checkout" -mindepth 1 -maxdepth 1 ! -name config ! -name .env -exec rm -rf {} +
  git archive HEAD | tar -x -C "$checkout"
  tag present && compose build
  for version in present former present; do
    tag "$version"
    say "up, of the $version version"
    if [ "$version" = former ] && ! compose up --detach --wait; then
      compose logs "$1" | grep "was made by a newer version of Tyche"
      continue
    fi
    [ "$version" = former ] || amid_requests compose up --detach --wait
    [ "$before" = "$(call "/api/requests/$(jq -r .id <<<"$before")" | jq -c '.data.outcome | {id, parsedResult}')" ]
    draw
  done
  docker tag tyche:present tyche
  docker rmi tyche:former tyche:present
}

upgrade() {
  begin "$EARLIER"
  mkdir -p "$checkout/config/plugins"
  touch "$checkout/.env"
  say "up, of $EARLIER" && compose --profile embedded up --build --detach --wait
  key=$(compose exec tyche cat /data/api-key)
  exchange tyche
}

upgradePublic() {
  prepare_public public "$EARLIER"
  documented "oracle keys --config /config/oracle.json --json"
  documented "network deploy sepolia"
  say "up, of $EARLIER" && documented "network check sepolia"
  meet_service service
  exchange service
}

# The documented restore, on a volume that has nothing but the master key.
restore() {
  begin
  compose up --detach --wait
  key=$(compose exec tyche cat /data/api-key)
  before=$(draw)
  compose exec tyche tyche backup /data/backups/
  compose cp tyche:/data/backups "$work"
  compose cp tyche:/data/master-key "$checkout/"
  cp "$work"/backups/*.tar.gz "$checkout/tyche-20261122T030000Z.tar.gz" # the name in the document
  compose down --volumes
  documented "cat >/data/master-key"
  documented "run --rm tyche restore"
  until_ready
  after=$(call "/api/requests/$(jq -r .id <<<"$before")" | jq -c '.data.outcome | {id, parsedResult}')
  [ "$before" = "$after" ]
  draw
  say "restored: $after"
}

# A checkout with configuration, a chain of strangers, and what the documented steps need.
prepare_public() {
  begin "${2:-HEAD}"
  local profile=$1
  cat >"$work/chain.yaml" <<'FILE'
services:
  chain:
    image: trytyche-chain
    tmpfs: [/data] # no volume that stays
    profiles: [public, nodes]
    entrypoint: [sh, -c, "exec /app/node_modules/@foundry-rs/anvil-linux-*/bin/anvil --host 0.0.0.0 --chain-id 11155111 --block-time 1"]
    healthcheck: { test: [CMD, bash, -c, "exec 3<>/dev/tcp/127.0.0.1/8545"], interval: 2s, start_period: 180s }
FILE
  git archive HEAD deploy | tar -x -C "$checkout" # the examples that this version's document names
  documented "cp deploy/service.example.json config/service.json"
  sed -i 's|"wss://YOUR-NODE", "https://ANOTHER-NODE"|"ws://chain:8545"|' "$checkout"/config/*.json
  documented "POSTGRES_PASSWORD="
  # The first account of Anvil's mnemonic. Caddy makes a certificate of its own for a local name.
  sed -i -e "s|^COMPOSE_FILE=.*|&:$work/chain.yaml|" -e "s|^COMPOSE_PROFILES=.*|COMPOSE_PROFILES=$profile|" -e 's|^TYCHE_DOMAIN=.*|TYCHE_DOMAIN=tyche.localhost|' \
    -e 's|^TYCHE_OPERATOR_KEY=.*|TYCHE_OPERATOR_KEY=0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80|' "$checkout/.env"
  compose build service
  docker tag tyche trytyche-chain # an upgrade must not begin another chain
  compose up --detach chain
}

# The service behind Caddy, with Caddy's own root.
meet_service() {
  url=https://tyche.localhost
  compose exec caddy cat /data/caddy/pki/authorities/local/root.crt >"$work/root.crt"
  tls=(--cacert "$work/root.crt" --resolve tyche.localhost:443:127.0.0.1)
  until_ready
  [ "$(curl -sS "${tls[@]}" -o /dev/null -w '%{http_code}' "$url/metrics")" = 404 ]
  key=$(compose exec "$1" cat /data/api-key)
  draw
  say "first result"
}

public() {
  prepare_public public
  say keys && documented "oracle keys --config /config/oracle.json --json"
  say deploy && documented "network deploy sepolia"
  say up && documented "network check sepolia"
  meet_service service
  amid_requests kill_and_up service
  amid_requests kill_and_up oracle
  amid_requests kill_and_up postgres
}

nodes() {
  prepare_public nodes
  say keys && documented "--role node"
  say deploy && documented "network deploy sepolia"
  say up && documented "network check sepolia"
  meet_service service
  amid_requests docker kill "$COMPOSE_PROJECT_NAME-node2-1"
  draw
  amid_requests compose up --detach --wait
}

# Prints the layers around a source, with the options of compose.yaml and without.
sandbox() {
  local as_compose=(--read-only --cap-drop ALL --security-opt no-new-privileges:true --tmpfs /tmp:size=256m)
  local ask='const { createSandboxPool } = await import("tyche/sandbox");
    const pool = createSandboxPool({ onWarning: console.log });
    console.log((await pool.run({ source: "return Functions.encodeUint256(1n)" })).ok, pool.status().layers.join(" "));
    await pool.close();'
  layers() { echo "-- $*" && docker run --rm --entrypoint node "$@" tyche --input-type=module -e "$ask" || true; }
  say "Docker $(docker version --format '{{.Server.Version}}'), Linux $(uname -r)"
  layers "${as_compose[@]}"
  layers "${as_compose[@]}" --security-opt seccomp=unconfined
  layers "${as_compose[@]}" --user 0
  layers
  layers --user 0
}

# A machine with systemd as process 1, which has the package and nothing else of ours, and runs the steps of "systemd with a public network".
systemd() {
  begin
  machine=trytyche-machine
  docker rm --force "$machine" 2>/dev/null || true
  docker build --target build --tag trytyche-package "$checkout"
  docker build --tag "$machine" - <<'FILE'
FROM node:26-bookworm-slim
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends systemd systemd-sysv dbus curl build-essential python3
RUN ln -s "$(command -v node)" /usr/bin/node
COPY --from=trytyche-package /package /root
WORKDIR /root
CMD ["/lib/systemd/systemd"]
FILE
  # What --privileged gives but for one capability, which machines may lack.
  docker run --detach --name "$machine" --cap-add ALL --cap-drop SYS_RESOURCE --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
    --cgroupns private --tmpfs /run --tmpfs /run/lock --tmpfs /tmp --tmpfs /sys/fs/cgroup --env container=docker "$machine"
  inside() { docker exec --interactive --env npm_config_cache=/tmp/npm "$machine" bash -euo pipefail; }
  until inside <<<"systemctl is-system-running | grep -E 'running|degraded'"; do sleep 0.5; done
  say install
  block_of "apt-get install --yes postgresql" | inside
  inside <<<'systemd-run --quiet /opt/tyche/node_modules/@foundry-rs/anvil-linux-*/bin/anvil --chain-id 11155111 --block-time 1'
  {
    block_of "createuser tyche"
    block_of "service.example.json > /etc/tyche/service.json"
    echo $'sed -i \'s|"wss://YOUR-NODE", "https://ANOTHER-NODE"|"ws://127.0.0.1:8545"|\' /etc/tyche/*.json'
    block_of "TYCHE_CONFIG=/etc/tyche/service.json"
    # The first account of Anvil's mnemonic.
    echo "sed -i 's|^TYCHE_OPERATOR_KEY=.*|TYCHE_OPERATOR_KEY=0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80|' /etc/tyche/service.env"
    block_of "oracle keys --config /etc/tyche/oracle.json"
    block_of "--oracle /etc/tyche/card.json"
    block_of "enable --now tyche-oracle tyche"
  } | inside
  say "first result"
  key=$(inside <<<"cat /var/lib/tyche/api-key")
  url=http://127.0.0.1:3000
  inside <<<"curl -sS --fail-with-body -H 'Authorization: $key' -H 'Content-Type: application/json' -d '{}' '$url/api/vrfv2/presets?network=sepolia&preset=coinflip'" | jq -e .data.success
  inside <<<"systemctl kill --signal KILL tyche tyche-oracle; sleep 1; curl -sf --retry 60 --retry-all-errors --retry-delay 1 $url/readyz; systemctl is-active tyche tyche-oracle"
  inside <<<"curl -sS --fail-with-body -H 'Authorization: $key' -H 'Content-Type: application/json' -d '{}' '$url/api/vrfv2/presets?network=sepolia&preset=coinflip'" | jq -e .data.success
  say "another result, after both were killed"
  docker rm --force --volumes "$machine"
}

# In braces, so that the file may change while it runs.
{
  for step in ${*:-images embedded domain upgrade restore public upgradePublic nodes sandbox systemd}; do ("$step"); done
  clear_all
  exit
}
