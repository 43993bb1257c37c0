import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DiskWatch, StoppableRun } from '../workspace/diskWatch.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { AgentProcess } from '../execution/turn/agentProcess.ts'
import { maxWarmAgents, warmAgents } from './warmAgents.ts'

const session = 'session-1'
const alike = { setup: 'claude', session }
const idleMs = 300_000
/** The watch over the disk space of tasks, which each test may stop. */
const watched = new Map<string, StoppableRun>()
const watchDisk: DiskWatch['watch'] = ({ taskId, stop }) => {
  watched.set(taskId, stop)
  return () => void watched.delete(taskId)
}

function workspaceOf(taskId: string): Workspace {
  const paths = { dir: '/t', homeDir: '/h', privateGitDir: '/g', mirrorDir: '/m', mirrorObjects: '/m/o' }
  return { taskId, ...paths, branch: 'b', baseBranch: 'main', startCommit: null, owner: undefined }
}

function fakeProcess({ canFreeze = true } = {}) {
  let isAlive = true
  let isUsed = false
  let isThawed = false
  let leave = () => {}
  const exited = new Promise<never>((resolve) => {
    leave = () => {
      isAlive = false
      resolve(undefined as never)
    }
  })
  const unused = () => {
    throw new Error('Whoever keeps it asks nothing else of it.')
  }
  const process: AgentProcess = {
    get agent(): never {
      return unused()
    },
    version: '1',
    secrets: [],
    services: { beginTurn: unused, endTurn: unused },
    mcp: { leftOut: [], faults: () => new Map(), seen: () => [] },
    isScripted: false,
    resumed: false,
    turn: unused,
    steer: unused,
    answer: unused,
    interrupt: unused,
    kill: unused,
    thaw: () => void (isThawed = true),
    freeze: async () => {
      isThawed = false
      return canFreeze
    },
    isAlive: () => isAlive,
    isUsed: () => isUsed,
    exited,
    close: async () => {
      leave()
      return exited
    },
  }
  const use = (now: boolean) => void (isUsed = now)
  return { process, use, die: () => leave(), isAlive: () => isAlive, isThawed: () => isThawed }
}

describe('agents that wait', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    watched.clear()
  })
  afterEach(() => void vi.useRealTimers())

  test('an agent is taken once, by its own task', async () => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 2 })
    const { process } = fakeProcess()
    await warm.keep(workspaceOf('a'), process, alike, idleMs)
    expect(await warm.take('b', alike)).toBeUndefined()
    expect(await warm.take('a', alike)).toBe(process)
    expect(await warm.take('a', alike)).toBeUndefined()
    await vi.advanceTimersByTimeAsync(idleMs)
    expect(process.isAlive()).toBe(true)
  })

  test.each([
    ['another setup', { setup: 'other', session }],
    ['another session', { setup: 'claude', session: 'session-2' }],
    ['no session', { setup: 'claude', session: null }],
  ])('one with %s is ended', async (_, wanted) => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 2 })
    const { process } = fakeProcess()
    await warm.keep(workspaceOf('a'), process, alike, idleMs)
    expect(await warm.take('a', wanted)).toBeUndefined()
    expect(process.isAlive()).toBe(false)
  })

  test('one that nobody takes is ended after its time', async () => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 2 })
    const { process } = fakeProcess()
    await warm.keep(workspaceOf('a'), process, alike, idleMs)
    await vi.advanceTimersByTimeAsync(idleMs - 1)
    expect(process.isAlive()).toBe(true)
    await vi.advanceTimersByTimeAsync(1)
    expect(process.isAlive()).toBe(false)
  })

  test('one in whose sandbox a program runs waits for longer, at most for 8 hours', async () => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 2 })
    const [used, done] = [fakeProcess(), fakeProcess()]
    used.use(true)
    done.use(true)
    await warm.keep(workspaceOf('a'), used.process, alike, idleMs)
    await warm.keep(workspaceOf('b'), done.process, alike, idleMs)
    await vi.advanceTimersByTimeAsync(idleMs)
    expect([used, done].map(({ isAlive }) => isAlive())).toEqual([true, true])
    done.use(false)
    await vi.advanceTimersByTimeAsync(idleMs)
    expect([used, done].map(({ isAlive }) => isAlive())).toEqual([true, false])
    await vi.advanceTimersByTimeAsync(8 * 60 * 60_000)
    expect(used.isAlive()).toBe(false)
  })

  test('one in whose sandbox a program fills the disk is ended', async () => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 3 })
    const [used, later, taken] = [fakeProcess(), fakeProcess(), fakeProcess()]
    used.use(true)
    taken.use(true)
    await warm.keep(workspaceOf('a'), used.process, alike, idleMs)
    await warm.keep(workspaceOf('b'), later.process, alike, idleMs)
    await warm.keep(workspaceOf('c'), taken.process, alike, idleMs)
    expect([...watched.keys()]).toEqual(['a', 'c'])
    await warm.take('c', alike)
    later.use(true)
    await vi.advanceTimersByTimeAsync(idleMs)
    expect([...watched.keys()]).toEqual(['a', 'b'])
    watched.get('a')?.stop('disk_limit', 'Stopped: it filled the disk.')
    expect([used, later].map(({ isAlive }) => isAlive())).toEqual([false, true])
    await warm.drop('b')
    expect([...watched.keys()]).toEqual([])
  })

  test('one that died is not given out', async () => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 2 })
    const { process, die } = fakeProcess()
    await warm.keep(workspaceOf('a'), process, alike, idleMs)
    die()
    expect(await warm.take('a', alike)).toBeUndefined()
  })

  test('one that was thawed and not taken is frozen again, or is ended', async () => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 2 })
    const [still, restless] = [fakeProcess(), fakeProcess({ canFreeze: false })]
    await warm.keep(workspaceOf('a'), still.process, alike, idleMs)
    await warm.keep(workspaceOf('b'), restless.process, alike, idleMs)
    warm.thaw('a')
    warm.thaw('b')
    expect(still.isThawed()).toBe(true)
    await Promise.all(['a', 'b', 'no-such-task'].map(warm.freeze))
    expect([still.isThawed(), still.isAlive(), restless.isAlive()]).toEqual([false, true, false])
  })

  test('of too many, the one that waits longest is ended', async () => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 2 })
    const [first, second, third] = [fakeProcess(), fakeProcess(), fakeProcess()]
    await warm.keep(workspaceOf('a'), first.process, alike, idleMs)
    await warm.keep(workspaceOf('b'), second.process, alike, idleMs)
    await warm.keep(workspaceOf('c'), third.process, alike, idleMs)
    expect([first, second, third].map(({ isAlive }) => isAlive())).toEqual([false, true, true])
  })

  test('after the close none is left, nor kept', async () => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 2 })
    const [before, after] = [fakeProcess(), fakeProcess()]
    await warm.keep(workspaceOf('a'), before.process, alike, idleMs)
    await warm.close()
    await warm.keep(workspaceOf('b'), after.process, alike, idleMs)
    expect([before, after].map(({ isAlive }) => isAlive())).toEqual([false, false])
  })

  test('of those that no longer fit when memory becomes short, the oldest are ended', async () => {
    let allowed = 3
    const warm = warmAgents({ watchDisk, limitFor: async () => allowed })
    const [first, second, third] = [fakeProcess(), fakeProcess(), fakeProcess()]
    await warm.keep(workspaceOf('a'), first.process, alike, idleMs)
    await warm.keep(workspaceOf('b'), second.process, alike, idleMs)
    allowed = 1
    await warm.keep(workspaceOf('c'), third.process, alike, idleMs)
    expect([first, second, third].map(({ isAlive }) => isAlive())).toEqual([false, false, true])
  })

  test('one in whose sandbox somebody has a shell is ended after the others', async () => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 1 })
    const [first, second] = [fakeProcess(), fakeProcess()]
    first.use(true)
    await warm.keep(workspaceOf('a'), first.process, alike, idleMs)
    await warm.keep(workspaceOf('b'), second.process, alike, idleMs)
    expect([first, second].map(({ isAlive }) => isAlive())).toEqual([true, false])
  })

  test('none is kept where none fits', async () => {
    const warm = warmAgents({ watchDisk, limitFor: async () => 0 })
    const { process } = fakeProcess()
    expect(await warm.hasRoom()).toBe(false)
    await warm.keep(workspaceOf('a'), process, alike, idleMs)
    expect(process.isAlive()).toBe(false)
  })
})

describe('how many agents may wait', () => {
  const GB = 1_000_000_000
  const most = (free: number, kept = 0) => maxWarmAgents(null, kept, async () => free)

  test('is what fits into a quarter of the free memory', async () => {
    expect(await most(8 * GB)).toBe(10)
    expect(await most(0.7 * GB)).toBe(0)
  })

  test('does not become less for those that wait, whose memory is no longer free', async () => {
    expect(await most(8 * GB - 10 * 0.2 * GB, 10)).toBe(10)
  })

  test('is the number that was configured, whatever is free', async () => {
    const unread = () => Promise.reject(new Error('Nobody reads the memory then.'))
    expect(await maxWarmAgents(3, 5, unread)).toBe(3)
    expect(await maxWarmAgents(0, 5, unread)).toBe(0)
  })
})
