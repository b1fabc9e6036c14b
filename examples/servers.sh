# Servers for an example, for as long as its script runs: in a scratch directory, on unix sockets.
#
#   . servers.sh
#   start_redis [ARG...]    # redis-server's; then $redis is its socket
#   start_postgres          # then $postgres is the directory of its socket; user and database: bloomery
#
# Each may be called once. At the end of the script the servers are stopped and their files removed; they
# also stop when the script is killed.

scratch=$(mktemp -d)
servers=()
stop_servers() {
  local server
  for server in "${servers[@]}"; do kill -INT "$server" 2>/dev/null || true; done
  wait || true
  rm -rf "$scratch"
}
trap stop_servers EXIT
trap 'exit 130' INT TERM

# after_start NAME PID LOG COMMAND...: waits until the command succeeds, a minute at most.
after_start() {
  local name=$1 server=$2 log=$3 i
  shift 3
  servers+=("$server")
  for ((i = 0; i < 1200; ++i)); do
    "$@" >/dev/null 2>&1 && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  echo "$name did not start; its log says:" >&2
  cat "$log" >&2
  exit 1
}

start_redis() {
  redis=$scratch/redis.socket
  setpriv --pdeathsig KILL redis-server --port 0 --unixsocket "$redis" --dir "$scratch" \
    --save '' --appendonly no "$@" >"$scratch/redis.log" 2>&1 &
  after_start redis-server $! "$scratch/redis.log" redis-cli -s "$redis" ping
}

# PostgreSQL refuses to run as root; Debian's package creates a user for it.
as_database_user() {
  local user=()
  [[ $(id -u) != 0 ]] || user=(--reuid=postgres --regid=postgres --clear-groups)
  exec setpriv "${user[@]}" --pdeathsig INT "$@"
}

start_postgres() {
  local programs
  # Debian keeps them out of PATH, in one directory per version.
  programs=$(dirname "$(find /usr/lib/postgresql/*/bin -name initdb | sort -V | tail -n 1)")
  postgres=$scratch/postgres
  mkdir "$postgres"
  if [[ $(id -u) == 0 ]]; then
    chmod 711 "$scratch"
    chown postgres "$postgres"
  fi
  (
    cd "$postgres"
    # Every user with access to the directory is trusted.
    as_database_user "$programs/initdb" -D data -A trust -U bloomery --no-locale -E UTF8 --no-sync
  ) >"$scratch/initdb.log" 2>&1 || { cat "$scratch/initdb.log" >&2; exit 1; }
  chmod 700 "$postgres"
  (
    cd "$postgres"
    as_database_user "$programs/postgres" -D data -k "$postgres" -c listen_addresses= \
      -c max_connections=40
  ) >"$scratch/postgres.log" 2>&1 &
  after_start postgres $! "$scratch/postgres.log" \
    "$programs/psql" -h "$postgres" -U bloomery -d postgres -c 'CREATE DATABASE bloomery'
}
