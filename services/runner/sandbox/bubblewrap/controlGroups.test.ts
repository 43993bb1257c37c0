import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { groupSettings, openControlGroups, ownGroup, planGroups, type GroupState } from './controlGroups.ts'

const unified = '29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate'

test.each([
  [
    'version 2',
    '0::/system.slice/flightdeck.service',
    unified,
    2,
    '/sys/fs/cgroup/system.slice/flightdeck.service',
  ],
  [
    'version 1, beside a version 2 without controllers',
    '4:memory:/process/one\n1:cpu,cpuacct:/\n0::/',
    '35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
    1,
    '/sys/fs/cgroup/memory/process/one',
  ],
  [
    'a container, which sees its own part of version 1 as the root',
    '4:memory:/docker/abc/inner',
    '35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
    1,
    '/sys/fs/cgroup/memory/inner',
  ],
] as const)('finding 13: the own group of memory is found with %s', (_, groups, mounts, version, folder) => {
  expect(ownGroup(`${groups}\n`, `${mounts}\n`)).toEqual({ version, folder })
})

test('finding 13: there is none where it is not mounted, or lies outside of what is seen', () => {
  expect(ownGroup('', unified)).toBeUndefined()
  expect(ownGroup('0::/a', '30 1 0:2 / /sys/fs/cgroup rw - tmpfs tmpfs rw')).toBeUndefined()
  expect(ownGroup('0::/../../other', unified)).toBeUndefined()
})

const service = '/sys/fs/cgroup/system.slice/flightdeck.service'
const group = (state: Partial<GroupState>): GroupState => ({
  folder: service,
  isRoot: false,
  controllers: ['cpu', 'memory', 'pids'],
  enabledForSubgroups: [],
  processes: [10, 12],
  ...state,
})
const kin = new Set([1, 10, 12, 14])

test('finding 13: a group of the server alone is used, with its processes in a part of it', () => {
  expect(planGroups(group({}), kin)).toEqual({ kind: 'use', base: service, move: [10, 12] })
  // Begun again by who was moved with it.
  const inner = group({ folder: `${service}/flightdeck-server` })
  expect(planGroups(inner, kin)).toEqual({ kind: 'use', base: service, move: [] })
})

test.each([
  ['others are in it', { processes: [10, 99] }, /^others are in the control group of the server$/],
  ['it does not count memory', { controllers: ['pids'] }, /does not count memory/],
  ['it is that of the whole machine', { isRoot: true, processes: [10] }, /root of all control groups/],
])('finding 13: it is left as it is where %s', (_, state, why) => {
  expect(planGroups(group(state), kin)).toEqual({ kind: 'none', why: expect.stringMatching(why) })
})

test('finding 13: the group of a sandbox has bounds of memory without swap and of processes, and ends as a whole', () => {
  const settings = groupSettings(2, { memoryBytes: 4096, processes: 60 })
  expect(Object.fromEntries(settings.map(({ file, content }) => [file, content]))).toEqual({
    'memory.max': '4096',
    'memory.swap.max': '0',
    'memory.oom.group': '1',
    'pids.max': '64',
  })
  expect(settings[0]).not.toHaveProperty('isOptional')
  expect(groupSettings(1, { memoryBytes: 4096, processes: 60 })[0]).toEqual({
    file: 'memory.limit_in_bytes',
    content: '4096',
  })
})

/** A folder with the files in which the kernel shows a group of version 2. */
async function fakeGroup(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-group-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const shown = { 'cgroup.type': 'domain', 'cgroup.subtree_control': '', ...files }
  for (const [name, content] of Object.entries(shown)) await writeFile(join(folder, name), `${content}\n`)
  return folder
}
const removeFake = (folder: string) => rm(folder, { recursive: true, force: true })

test('finding 13: of version 2, the server moves, and each sandbox has a group with its limits until its end', async () => {
  const folder = await fakeGroup({ 'cgroup.controllers': 'memory pids', 'cgroup.procs': String(process.pid) })
  // Of a server that was killed.
  await mkdir(join(folder, 'flightdeck-sandbox-4194305-left'))
  const groups = await openControlGroups({ version: 2, folder }, removeFake)
  if (typeof groups === 'string') throw new Error(groups)
  const folders = async () => (await readdir(folder)).filter((name) => name.startsWith('flightdeck-sandbox-'))
  expect(await folders()).toEqual([])
  expect(await readFile(join(folder, 'flightdeck-server/cgroup.procs'), 'utf8')).toBe(String(process.pid))
  expect(await readFile(join(folder, 'cgroup.subtree_control'), 'utf8')).toMatch(/^\+/)
  expect(groups.says).toContain('version 2')

  const group = await groups.hold(4711, { memoryBytes: 8192, processes: 10 })
  const [made = ''] = await folders()
  const file = (name: string) => join(folder, made, name)
  const names = ['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max', 'cgroup.procs']
  expect(await Promise.all(names.map((name) => readFile(file(name), 'utf8')))).toEqual([
    '8192',
    '0',
    '1',
    '14',
    '4711',
  ])
  expect(await group?.counted()).toBe('within')
  await writeFile(file('memory.events'), 'max 7\noom 1\noom_kill 0\n')
  expect(await group?.counted()).toBe('within')
  await writeFile(file('memory.events'), 'max 7\noom 1\noom_kill 3\n')
  expect(await group?.counted()).toBe('exceeded')
  await writeFile(file('memory.events'), 'oom_kill 0\n')
  // As by who manages the groups of the machine.
  await writeFile(file('memory.max'), 'max\n')
  expect(await group?.counted()).toBe('unknown')
  await group?.remove()
  expect(await folders()).toEqual([])
})

test('finding 13: of version 2, nothing is changed in a group that is not the server’s alone', async () => {
  const files = { 'cgroup.controllers': 'memory pids', 'cgroup.procs': `${process.pid}\n4194305` }
  const folder = await fakeGroup(files)
  const before = await readdir(folder)
  expect(await openControlGroups({ version: 2, folder }, removeFake)).toMatch(
    /^others are in the control group of the server$/,
  )
  expect(await readdir(folder)).toEqual(before)
})

test('finding 13: where none can be made, that is said', async () => {
  const folder = join(tmpdir(), 'flightdeck-no-such-group')
  expect(await openControlGroups({ version: 1, folder })).toBe(
    'the server may make no control group (ENOENT)',
  )
})

const groups = await openControlGroups()
const note = typeof groups === 'string' ? ` (skipped: ${groups})` : ''

// Holds findings 1.42.
test.skipIf(note !== '')(
  `finding 13: the kernel counts what has only a descriptor, and tells it${note}`,
  async () => {
    if (typeof groups === 'string') return
    const memfd = process.arch === 'arm64' ? 279 : 319
    const script = `<STDIN>; my $fd = syscall(${memfd}, my $name = "held", 0); open(my $file, ">&=", $fd) or die; print $file "x" x 1_000_000 for 1 .. 100; sleep 60`
    const child = spawn('perl', ['-e', script], { stdio: ['pipe', 'ignore', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const group = await groups.hold(child.pid ?? 0, { memoryBytes: 50_000_000, processes: 8 })
    const own = await readFile(`/proc/${child.pid}/cgroup`, 'utf8')
    const name = /flightdeck-sandbox-\S+/.exec(own)?.[0] ?? ''
    expect(await group?.counted()).toBe('within')
    const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
    child.stdin.end('\n')
    expect(await ended).toBe('SIGKILL')
    expect(await group?.counted()).toBe('exceeded')
    await group?.remove()
    expect(await group?.counted()).toBe('unknown')
    expect(name).toMatch(new RegExp(`^flightdeck-sandbox-${process.pid}-`))
  },
)

test.skipIf(note !== '')(`finding 13: a process that is gone is in no group${note}`, async () => {
  if (typeof groups === 'string') return
  expect(await groups.hold(2 ** 22 + 1, { memoryBytes: 50_000_000, processes: 8 })).toBeUndefined()
})
