/**
 * A stand-in for an engine that has no image here, as a program in a container: `node standIn.ts eventstore <port>` or `mongo <port>`. The stand-ins
 * listen on loopback; this program forwards the connections of other containers.
 */
import { spawn } from 'node:child_process'
import { connect, createServer, type Socket } from 'node:net'
import { startEventStoreDb } from '../standins/eventStoreDb.ts'
import { oneAtATime } from '../servers/oneWriteAtATime.ts'
import type { Passage } from '../servers/tcpGate.ts'

const [engine, port] = process.argv.slice(2)
const ferretDbPort = 27_018

const straight: Passage = (client, server) => {
  client.pipe(server)
  server.pipe(client)
}

/** Forwards every connection to the port, as long as this process lives. */
function letIn(to: number, passage: Passage): void {
  createServer((client: Socket) => {
    const server = connect(to, '127.0.0.1')
    client.on('error', () => {}).on('close', () => server.destroy())
    server.on('error', () => {}).on('close', () => client.destroy())
    passage(client, server)
  }).listen(Number(port), '0.0.0.0')
}

if (engine === 'eventstore') {
  const standIn = await startEventStoreDb()
  letIn(standIn.port, straight)
} else {
  const args = [
    '--handler=sqlite',
    '--sqlite-url=file:/data/?_pragma=synchronous(off)',
    '--state-dir=/data',
    `--listen-addr=127.0.0.1:${ferretDbPort}`,
    '--debug-addr=-',
    '--telemetry=disable',
  ]
  spawn('ferretdb', args, { stdio: 'inherit' }).once('exit', (code) => process.exit(code ?? 1))
  // FerretDB changes a document in two steps, between which another process could change it.
  letIn(ferretDbPort, oneAtATime())
}
process.once('SIGTERM', () => process.exit(0))
