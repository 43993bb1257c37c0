import { chmod, chown, lstat, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSandboxUsers } from './sandboxUsers.ts'
import { openWorkspaceLimit, projectQuotaMount, projectsOf } from './workspaceLimit.ts'

const mounts = [
  '22 27 0:21 / /proc rw,relatime - proc proc rw',
  '27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,prjquota,discard',
  '44 27 7:300 / /srv/of\\040us rw,noatime shared:9 master:2 - xfs /dev/loop300 rw,attr2,prjquota',
  '45 27 7:1 / /srv/off rw,relatime - xfs /dev/loop1 rw,pqnoenforce',
  '46 27 7:2 / /prjquota rw,relatime - ext4 /dev/loop2 rw,usrquota',
].join('\n')
const device = (major: number, minor: number): number => (minor & 0xff) + major * 256 + (minor >> 8) * 2 ** 20

test.each([
  ['with project quotas', device(254, 0), '/'],
  ['with an awkward name and a high number', device(7, 300), '/srv/of us'],
  ['that counts projects and limits none', device(7, 1), undefined],
  ['with quotas of another kind', device(7, 2), undefined],
  ['that is not mounted', device(8, 1), undefined],
])('security H2: where a file system is mounted %s', (_, dev, expected) => {
  expect(projectQuotaMount(mounts, dev)).toBe(expected)
})

test('security H2: which projects folders belong to is read as lsattr tells it', () => {
  const told = '1879048200 --------------e------- /data/tasks/a\n    0 --------------e----P-- /data/of us/b\n'
  expect([...projectsOf(told)]).toEqual(['1879048200 /data/tasks/a', '0 /data/of us/b', ''])
})

const isRoot = process.getuid?.() === 0
let root: string
let programs: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flightdeck-limit-'))
  programs = join(root, 'programs')
  // For the user of a trial.
  await chmod(root, 0o711)
  await mkdir(programs)
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** A program in the place of the system's, that writes down how it is called. */
async function program(name: string, script = ''): Promise<void> {
  const file = join(programs, name)
  await writeFile(file, `#!/bin/sh\necho ${name} "$@" >> ${join(root, 'calls')}\n${script}\n`)
  await chmod(file, 0o755)
}

const calls = async () => (await readFile(join(root, 'calls'), 'utf8')).trim().split('\n')
const fails = 'echo "there is no quota\nhere" >&2; exit 1'
/** Writes what fits and fails, as where a quota holds. */
const refuses = '/bin/dd if=/dev/zero of=file bs=64k count=15; exit 1'

async function opened({
  options = 'rw,prjquota',
  hasUsers = true,
  path = `${programs}:${process.env['PATH']}`,
} = {}) {
  const { dev } = await stat(root)
  const numbers = `${(dev >>> 8) & 0xfff}:${(dev & 0xff) | ((dev >>> 12) & 0xf_ff00)}`
  const mountinfoFile = join(root, 'mountinfo')
  await writeFile(mountinfoFile, `27 1 ${numbers} / /mount rw - ext4 /dev/vda ${options}\n`)
  const users = openSandboxUsers(root)
  const faults: unknown[] = []
  const limit = await openWorkspaceLimit({
    root,
    path,
    workspaceBytes: 5e9,
    users: hasUsers ? users : undefined,
    mountinfoFile,
    onFault: (fault) => faults.push(fault),
  })
  return { limit, users, faults }
}

describe.skipIf(!isRoot)('security H2: of the kernel’s limit', () => {
  test.each([
    ['the file system counts no projects', { options: 'rw' }, {}, /is not mounted with prjquota\.$/],
    ['tasks have no users', { hasUsers: false }, {}, /: tasks have no users of their own here\.$/],
    ['a tool is missing', { path: '/bin-that-is-not-there' }, {}, /: \w+ is not installed\.$/],
    ['the tool fails', {}, { setquota: fails }, /: setquota failed: there is no quota here\.$/],
    [
      'it lets through what is too much',
      {},
      { dd: '/bin/dd if=/dev/zero of=file bs=64k count=32' },
      /did not hold/,
    ],
    ['nothing can be written', {}, { dd: 'exit 1' }, /did not hold/],
  ])(
    'security H2: where %s, workspaces are measured, and the operator is told why',
    async (_, given, changed, why) => {
      const scripts = { chattr: '', setquota: '', lsattr: '', dd: refuses, ...changed }
      for (const [name, script] of Object.entries(scripts)) await program(name, script)
      const { limit } = await opened(given)
      expect(limit.says).toMatch(/^Workspaces are measured: 5 GB each\. The kernel sets no limit: /)
      expect(limit.says).toMatch(why)
      expect(await lstat(join(root, 'tasks', '.quota-trial')).catch(() => 'gone')).toBe('gone')
      await limit.hold('a-task', { uid: 7, gid: 7 }, [])
      expect(limit.held()).toEqual([])
    },
  )

  test('security H2: workspaces from before are taken in, and one that cannot be keeps out no other', async () => {
    const there = { done: 70_001, old: 70_002, awkward: 70_003, shared: 70_002 }
    for (const [name, uid] of Object.entries(there)) {
      await mkdir(join(root, 'tasks', name, 'home'), { recursive: true })
      await chown(join(root, 'tasks', name, 'home'), uid, uid)
    }
    const scripts = {
      chattr: '',
      setquota: `[ "$2" = -b ] && cat >> ${join(root, 'set')} || true`,
      lsattr: `echo "70001 ------- $2/done"; echo "    0 ------- $2/old"`,
      find: 'case "$1" in *awkward*) exit 1;; esac',
      dd: refuses,
    }
    for (const [name, script] of Object.entries(scripts)) await program(name, script)
    const { limit, faults } = await opened()
    expect(limit.says).toMatch(/have a project quota/)
    expect(faults).toEqual([expect.objectContaining({ message: 'find failed: itself' })])
    const made = await calls()
    const [first] = limit.held().filter((name) => there.old === Reflect.get(there, name))
    const folder = join(root, 'tasks', first ?? '')
    expect(made).toContain(`chattr -R -f -p 70002 ${folder}/home`)
    expect(made).toContain(`find ${folder}/home -type d -exec chattr +P {} +`)
    expect(made).toContain(`chattr -p 70002 ${folder}`)
    expect(
      made.filter((call) => call.includes('/done') || call === `chattr -p 70003 ${root}/tasks/awkward`),
    ).toEqual([])
    // Two with one user, as older versions made them, have no limit together.
    expect(limit.held()).toHaveLength(3)
    expect((await readFile(join(root, 'set'), 'utf8')).trim().split('\n').sort()).toEqual(
      [70_001, 70_002, 70_003].map((id) => `${id} 0 4980469 0 1245118`),
    )
  })

  test('security H2: a task’s folders get a project of their own, a little more than is measured, until they are gone', async () => {
    for (const [name, script] of Object.entries({ chattr: '', setquota: 'cat > /dev/null', dd: refuses }))
      await program(name, script)
    const { limit, users, faults } = await opened()
    expect(limit.says).toBe(
      'Workspaces have a project quota of 5.1 GB each, and are measured too: 5 GB each.',
    )
    await rm(join(root, 'calls'))

    const owner = await users.userOf('task-1')
    const folder = join(root, 'tasks', 'task-1')
    await mkdir(folder)
    await limit.hold('task-1', owner, [join(folder, 'tree')])
    expect(new Set(await calls())).toEqual(
      new Set([
        `chattr -p ${owner.uid} ${folder}`,
        `chattr -p ${owner.uid} +P ${join(folder, 'tree')}`,
        `setquota -P ${owner.uid} 0 4980469 0 1245118 /mount`,
      ]),
    )

    await limit.liftIfGone('task-1')
    expect(limit.held()).toEqual(['task-1'])
    await rm(folder, { recursive: true })
    await limit.liftIfGone('task-1')
    expect(limit.held()).toEqual([])
    expect((await calls()).at(-1)).toBe(`setquota -P ${owner.uid} 0 0 0 0 /mount`)
    expect(faults).toEqual([])
  })
})
