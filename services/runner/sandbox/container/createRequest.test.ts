import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { opening } from './init.ts'
import { containerBody, engineSees } from './createRequest.ts'
import { seccompProfile } from '../systemCalls.ts'
import { partsOf } from './frames.ts'

describe('what the engine is asked for', () => {
  const body = containerBody({
    image: { id: 'sha256:1234', volumes: ['/data'] },
    labels: { 'flightdeck.runner': 'r1' },
    user: { uid: 27_200, gid: 27_200 },
    capabilities: [],
    mounts: [{ source: '/srv/tree', target: '/workspace', readOnly: false }],
    limits: { memoryBytes: 4_000, processes: 64, fileSizeBytes: 500 },
    pipeToInit: '/run/line',
    pipeFromInit: '/run/answers',
    staying: 2,
    command: ['claude', '--print'],
    startIn: '/workspace',
  })

  test('is a user without a right, on a system that cannot be written to, without a network', () => {
    expect(body).toMatchObject({
      Image: 'sha256:1234',
      User: '27200:27200',
      Cmd: ['claude', '--print'],
      WorkingDir: '/workspace',
      HostConfig: {
        NetworkMode: 'none',
        IpcMode: 'private',
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        CapAdd: [],
        SecurityOpt: ['no-new-privileges', `seccomp=${JSON.stringify(seccompProfile('sandbox'))}`],
        AutoRemove: true,
      },
    })
  })

  test('keeps to the limits: what the kernel counts together is the memory and both temporary folders', () => {
    expect(body).toMatchObject({
      HostConfig: {
        PidsLimit: 64,
        CpuShares: 102,
        Memory: 6_000,
        MemorySwap: 6_000,
        ShmSize: 1_000,
        Ulimits: [
          { Name: 'fsize', Soft: 500, Hard: 500 },
          { Name: 'data', Soft: 4_000, Hard: 4_000 },
          { Name: 'core', Soft: 0, Hard: 0 },
        ],
      },
    })
  })

  test("has no environment, no volume of the image's and no log at the engine", () => {
    expect(body).toMatchObject({
      Env: [],
      HostConfig: {
        Tmpfs: { '/data': 'ro,nosuid,nodev,noexec,size=4k,uid=27200,gid=27200,mode=0500' },
        LogConfig: { Type: 'none' },
        Mounts: [{ Type: 'bind', Source: '/srv/tree', Target: '/workspace', ReadOnly: false }],
      },
    })
  })
})

describe('a path, for the engine', () => {
  test('is the same where nothing else is said', () => {
    expect(engineSees({}, '/data/runner')).toBe('/data/runner')
  })

  test('is below the folder that is shared, the nearest of several', () => {
    const shared = { '/data': '/srv/flightdeck', '/data/tmp': '/srv/tmp' }
    expect(engineSees(shared, '/data')).toBe('/srv/flightdeck')
    expect(engineSees(shared, '/data/runner/tasks')).toBe('/srv/flightdeck/runner/tasks')
    expect(engineSees(shared, '/data/tmp/x')).toBe('/srv/tmp/x')
  })

  test('is none where nothing above it is shared: it is in the image', () => {
    expect(engineSees({ '/data': '/srv/flightdeck' }, '/usr/local/bin/node')).toBeUndefined()
    expect(engineSees({ '/data': '/srv/flightdeck' }, '/database')).toBeUndefined()
  })
})

test('an environment goes before the input with its length, and a variable with a NUL does not', () => {
  expect(opening({ A: 'one\ntwo', B: 'ü' }).toString()).toBe('0000000eA=one\ntwo\0B=ü')
  expect(() => opening({ A: 'x\0B=y' })).toThrow(RangeError)
})

describe('several outputs in one stream', () => {
  const frame = (kind: number, said: string) =>
    Buffer.concat([Buffer.from([kind, 0, 0, 0, 0, 0, 0, said.length]), Buffer.from(said)])
  const read = async (chunks: readonly Buffer[]) => {
    const told: Record<number, string> = {}
    for await (const { kind, bytes } of partsOf(Readable.from(chunks, { objectMode: false })))
      told[kind] = `${told[kind] ?? ''}${bytes.toString()}`
    return told
  }

  test('are told apart, however they are cut', async () => {
    const all = Buffer.concat([frame(1, 'out'), frame(2, ''), frame(2, 'error'), frame(1, 'more')])
    for (const size of [1, 3, 9, all.length]) {
      const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
        all.subarray(index * size, (index + 1) * size),
      )
      expect(await read(chunks)).toEqual({ 1: 'outmore', 2: 'error' })
    }
  })

  test('are a fault when they end in the midst', async () => {
    await expect(read([frame(1, 'out').subarray(0, 10)])).rejects.toThrow('in the midst')
  })
})
