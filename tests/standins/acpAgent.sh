#!/bin/sh
# A stand-in for an agent that speaks ACP badly, in the way that its prompt names.
if [ "$1" = --version ]; then echo '1.0.0'; exit; fi

say() { printf '%s\n' "$1"; }
chunk='{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"one","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I have begun. "}}}}'

long=$(head -c 60000 /dev/zero | tr '\0' x)

while read -r line; do
  case $line in
  *'"initialize"'*) say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}' ;;
  *'"session/new"'*) say '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"one"}}' ;;
  *'"session/prompt"'*)
    say "$chunk"
    case $line in
    *'Break the protocol'*) say '{"jsonrpc":"2.0","id":99,"result":{}}' ;;
    *'Print noise'*) yes 'Listening on 4096' ;;
    *'Flood'*) yes "$(echo "$chunk" | sed "s/I have/$long/")" ;;
    *'Die'*) exit 7 ;;
    *'Tell a secret'*) echo "it was: $TOKEN" >&2; exit 8 ;;
    *'Hang'*) sleep 600 ;;
    esac
    ;;
  esac
done
