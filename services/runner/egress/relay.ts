/**
 * A sandbox has no network, so its programs connect to ports of its own loopback. A small script, the relay, passes the data on to the socket of the
 * proxy or of the key broker. It runs beside the command, and ends with it.
 */

/** The port on which the relay listens in a sandbox. Each sandbox has a loopback of its own. */
export const relayPort = 31_280

/** The port on which an agent in a sandbox reaches the key broker: for its model if it cannot use a unix socket, and for its MCP servers. */
export const modelPort = 31_281

/**
 * A script for `node -e`. Its arguments are the proxy's socket, the broker's socket (or an empty text) and the ports: the first leads to the proxy
 * itself, each further one to the same port on the host's loopback. The script prints a line once it has tried to listen on all of them.
 */
const relayScript = `
const { connect, createServer } = require('node:net')
const [path, model, ...ports] = process.argv.slice(1)
process.on('SIGINT', () => {})
// The relay ends with its command: alone, it would keep alive a sandbox whose runner was killed.
const command = process.ppid
setInterval(() => { if (process.ppid !== command) process.exit() }, 1_000).unref()
const join = (one, other) => {
  for (const [from, to] of [[one, other], [other, one]]) {
    from.on('error', () => from.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}
const opened = (socket, port) => new Promise((resolve) => {
  let said = ''
  const hear = (chunk) => {
    said += chunk.toString('latin1')
    const end = said.indexOf('\\r\\n\\r\\n')
    if (end < 0) return
    socket.off('data', hear)
    socket.pause()
    if (said.length > end + 4) socket.unshift(Buffer.from(said.slice(end + 4), 'latin1'))
    resolve(said.startsWith('HTTP/1.1 200 '))
  }
  socket.on('data', hear)
  socket.on('close', () => resolve(false))
  socket.write('CONNECT 127.0.0.1:' + port + ' HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n')
})
const listen = (port, path, isForwarded) => new Promise((resolve) => {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, async (client) => {
    client.on('error', () => client.destroy())
    const socket = connect({ path, allowHalfOpen: true })
    socket.on('error', () => client.destroy())
    if (isForwarded && !(await opened(socket, port))) return client.destroy()
    join(client, socket)
    client.resume()
  })
  server.on('error', resolve)
  server.listen(Number(port), '127.0.0.1', resolve)
})
const listens = ports.map((port, index) => listen(port, path, index > 0))
if (model !== '') listens.push(listen(${modelPort}, model, false))
Promise.all(listens).then(() => process.stdout.write('ready\\n'))
`

interface RelayPlace {
  /** The paths of the executable `node` and of the proxy's socket in the sandbox. */
  readonly node: string
  readonly socket: string
  /** The ports of the host's loopback that can be reached from the sandbox. */
  readonly ports: readonly number[]
}

type Command = readonly [string, ...string[]]

/**
 * When a command starts: once the relay is ready, at the latest after 30 seconds, or after a line on its standard input, which the command does not
 * get. A command that reaches the broker by the relay waits for both: an agent tries only once to connect to its MCP servers.
 */
export type Begins = 'reachable' | 'on_first_line'

/**
 * The command line that starts a relay at once, and then becomes the command. `model` is the path of the broker's socket in the sandbox. If it is
 * given, the relay also connects `modelPort` to the broker.
 */
export function besideRelay(place: RelayPlace, command: Command, begins: Begins, model = ''): Command {
  const ports = [relayPort, ...place.ports].join(' ')
  const given = [place.node, place.socket, model, ports, relayScript, ...command]
  const script = begins === 'on_first_line' && model !== '' ? 'on_first_line_reachable' : begins
  return [...shell, scripts[script], 'bash', ...given]
}

// Without these options, a bash whose input is a socket would run a start-up file of the home. An agent may have written that file.
const shell = ['/bin/bash', '--norc', '--noprofile', '-p', '-c'] as const

// The relay gets no environment variables: a project's variables are only for its commands.
const begun =
  'node=$1 socket=$2 model=$3 ports=$4 script=$5; shift 5; exec 9< <(exec -c "$node" -e "$script" "$socket" "$model" $ports </dev/null 2>/dev/null 9<&-);'
const onceReady = 'read -r -t 30 -u 9; exec 9<&-; exec "$@"'
const scripts = {
  reachable: `${begun} ${onceReady}`,
  on_first_line_reachable: `${begun} read -r || exit; ${onceReady}`,
  // Bash reads a pipe byte by byte, so the input after the first line is left to the command. The relay has a lower priority than the command, since
  // there may be too few processors for both at once.
  on_first_line:
    'node=$1 socket=$2 model=$3 ports=$4 script=$5; shift 5; (exec -c nice -n 10 "$node" -e "$script" "$socket" "$model" $ports </dev/null >/dev/null 2>&1) & read -r || exit; exec "$@"',
}

/** The command line for a command that needs no relay. */
export function alone(command: Command, begins: Begins): Command {
  return begins === 'on_first_line' ? [...shell, 'read -r || exit; exec "$@"', 'bash', ...command] : command
}
