/** What a sandbox offers of the ports on its loopback. */
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { SandboxedProcess } from './port.ts'
import { sandboxPorts } from './sandboxPorts.ts'

const found = [
  { port: 5173, process: 'vite' },
  { port: 31_280, process: 'node' },
]

function child(): { readonly child: SandboxedProcess; readonly started: string[][] } {
  const started: string[][] = []
  const unused = () => {
    throw new Error('Nobody asks this.')
  }
  const stream = new PassThrough()
  return {
    started,
    child: {
      pid: null,
      stdin: null,
      stdout: stream,
      stderr: stream,
      exited: new Promise(() => undefined),
      settled: Promise.resolve(),
      interrupt: unused,
      kill: unused,
      freeze: unused,
      thaw: unused,
      programs: () => [],
      listening: async () => found,
      exec(spec) {
        started.push([...spec.command])
        return Promise.reject(new Error('It would connect.'))
      },
    },
  }
}

test('the ports of our relays are neither listed nor connected to, nor are those on which nothing listens', async () => {
  const { child: process, started } = child()
  const ports = sandboxPorts({ ofTask: () => [{ child: process, ownPorts: [31_280, 31_281] }] })
  const [sandbox] = ports.of('task')
  expect(await sandbox?.ports()).toEqual([{ port: 5173, process: 'vite' }])
  for (const port of [31_280, 31_281, 8080]) expect(await sandbox?.connect(port)).toBeUndefined()
  expect(started).toEqual([])
  await expect(sandbox?.connect(5173)).rejects.toThrow('It would connect.')
})

test('a sandbox has one id, and the next has another', () => {
  const [first, second] = [child().child, child().child]
  let now = first
  const ports = sandboxPorts({ ofTask: () => [{ child: now, ownPorts: [] }] })
  const [before] = ports.of('task')
  expect(ports.of('task')[0]?.id).toBe(before?.id)
  now = second
  expect(ports.of('task')[0]?.id).not.toBe(before?.id)
})
