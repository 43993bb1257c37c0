#!/bin/sh
# Makes the secrets that docker-compose.yml names, each once: what is there stays. Needs openssl.
#   sh scripts/containersSecrets.sh [folder]          ./secrets unless told otherwise
set -eu
# Without this, what it should have made would be empty files.
command -v openssl >/dev/null || { echo 'openssl is missing. Install it, and run this again.' >&2; exit 1; }
cd "$(dirname "$0")/.."
folder=${1:-secrets}

# The folder keeps others of this machine out. The files are for all to read, since each service reads them as a user of its own.
mkdir -p "$folder"
chmod 700 "$folder"
umask 022

# Puts what comes on the input into the file, unless it is there; whole or not at all.
make() {
  if [ -e "$folder/$1" ]; then
    cat >/dev/null
    return
  fi
  cat >"$folder/.$1"
  mv "$folder/.$1" "$folder/$1"
  echo "made $folder/$1"
}

openssl rand -base64 32 | make master_key
openssl rand -hex 24 | make mongodb_password
openssl rand -hex 24 | make mongodb_root_password
openssl rand -hex 24 | make nats_password
make eventstore_url <<END
esdb://eventstore:2113?tls=false
END
make mongodb_url <<END
mongodb://flightdeck:$(cat "$folder/mongodb_password")@mongo:27017/flightdeck?authSource=admin&directConnection=true
END
make nats_url <<END
nats://flightdeck:$(cat "$folder/nats_password")@nats:4222
END
make nats_config <<END
port: 4222
http: "127.0.0.1:8222"
authorization { user: flightdeck, password: "$(cat "$folder/nats_password")" }
jetstream { store_dir: /data, max_file_store: 20GB }
END
# Compose starts nothing while a file is missing. This one is for an App that you have; one that is made at /setup needs none.
make github_client_secret </dev/null
