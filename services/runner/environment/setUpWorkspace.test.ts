import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { envsOf, recordingCommands, setupScene, testSandbox } from '../../../tests/runner/environmentScene.ts'
import { projectId } from '../../../tests/domain/ids.ts'
import { makeScene, type Scene } from '../../../tests/runner/workspaceScene.ts'
import type { Sandbox, SandboxedProcess, SandboxSpec } from '../sandbox/port.ts'
import { markTouched, type Workspace } from '../workspace/workspace.ts'
import { setupStateOf } from './environment.ts'
import { recordCutShort } from './environmentRecord.ts'
import { allLayers } from './layers.ts'
import { setUpWorkspace } from './setUpWorkspace.ts'

let scene: Scene
beforeEach(async () => {
  scene = await makeScene({ '.gitignore': 'deps/\n', 'README.md': '# Sample\n' })
})
afterEach(() => scene.remove())

let tasks = 0
async function workspaceOf(baseBranch = 'main'): Promise<Workspace> {
  tasks += 1
  const asked = { taskId: `task-${tasks}`, baseBranch, workingBranch: `flightdeck/${tasks}` }
  // Plain processes of another user would not get through the folders above.
  return { ...(await scene.prepare(asked)), owner: undefined }
}

/** The sandbox, whose processes of one kind are started by `start`. */
function sandboxWith(kind: Kind, start: (spec: SandboxSpec) => SandboxedProcess): Sandbox {
  return {
    ...testSandbox,
    run: (spec) => (kindOf(spec) === kind ? start(spec) : testSandbox.run(spec)),
  }
}
type Kind = 'setup' | 'pack home' | 'pack tree' | 'unpack'
function kindOf({ command, readOnly }: SandboxSpec): Kind {
  if (readOnly.some(({ target }) => target.includes('environment-'))) return 'unpack'
  if (command[0] === 'tar') return 'pack tree'
  return command.some((word) => word.includes('--create')) ? 'pack home' : 'setup'
}
const hanging = (spec: SandboxSpec) => testSandbox.run({ ...spec, command: ['sleep', '600'] })

const setup = 'mkdir -p deps ~/.cache; echo whole > deps/file; echo cached > ~/.cache/file'

test.each([
  { branch: 'main', ends: ['interrupted'] },
  { branch: 'feature', ends: [] },
])(
  'a server that is killed in a setup of $branch records $ends for the project',
  async ({ branch, ends }) => {
    await scene.commit({ 'README.md': '# Of a branch\n' }, 'feature')
    await scene.commit({ '.gitignore': 'deps/\n' }, 'feature')
    const { commands, recorded } = recordingCommands()
    const sandbox = sandboxWith('setup', (spec) => {
      afterKill = recordCutShort({ ...deps, commands }).finally(() => run.stopping.stop('cancelled'))
      return hanging(spec)
    })
    let afterKill: Promise<void> | undefined
    const { deps, run, setUp } = setupScene(scene.root, sandbox)
    await setUp(await workspaceOf(branch), setup)
    await afterKill
    expect(recorded.map(({ data }) => ('code' in data ? data.code : null))).toEqual(ends)
  },
)

test('a server that is killed while it fills a workspace does not take that for set up', async () => {
  await setupScene(scene.root).setUp(await workspaceOf(), setup)
  const workspace = await workspaceOf()
  let state: ReturnType<typeof setupStateOf> | undefined
  const sandbox = sandboxWith('unpack', (spec) => {
    state = setupStateOf(workspace, setup).finally(() => run.stopping.stop('cancelled'))
    return hanging(spec)
  })
  const { run, setUp } = setupScene(scene.root, sandbox)
  await setUp(workspace, setup)
  expect(await state).toEqual({ isDone: false, builtAtIfUntold: undefined })
  await setupScene(scene.root).setUp(workspace, setup)
  expect(await readFile(join(workspace.dir, 'deps/file'), 'utf8')).toBe('whole\n')
})

test('a task that is cancelled while its workspace is filled ends at once, and the environment stays', async () => {
  await setupScene(scene.root).setUp(await workspaceOf(), setup)
  const { run, recorded, setUp } = setupScene(
    scene.root,
    sandboxWith('unpack', (spec) => {
      setImmediate(() => run.stopping.stop('cancelled'))
      return hanging(spec)
    }),
  )
  expect(await setUp(await workspaceOf(), setup)).toEqual({ kind: 'cancelled' })
  expect(await allLayers(scene.root)).toHaveLength(1)
  expect(recorded).toEqual([])
})

test.each(['pack home', 'pack tree'] as const)(
  'a task that is cancelled in "%s" ends at once, and what its setup leaves may be kept later',
  async (kind) => {
    const { deps, run, recorded, setUp } = setupScene(
      scene.root,
      sandboxWith(kind, (spec) => {
        setImmediate(() => run.stopping.stop('cancelled'))
        return hanging(spec)
      }),
    )
    expect(await setUp(await workspaceOf(), setup)).toEqual({ kind: 'cancelled' })
    expect(recorded.at(-1)).toMatchObject({ data: { code: 'interrupted' } })
    expect(deps.environments.notKept.size).toBe(0)
    expect(await allLayers(scene.root)).toEqual([])
  },
)

test('one that cannot be kept says whether an earlier one of the same setup is used', async () => {
  const changing = `${setup}; test ! -e package-lock.json || echo more >> README.md`
  await setupScene(scene.root).setUp(await workspaceOf(), changing)
  await scene.commit({ 'package-lock.json': '{}' })
  const { recorded, setUp } = setupScene(scene.root)
  await setUp(await workspaceOf(), changing)
  expect(recorded.at(-1)).toMatchObject({ data: { code: 'not_kept', usesEarlier: true } })
})

test.each<[number, readonly string[]]>([
  [350_000, []],
  [250_000, ['not_kept']],
])('what a setup leaves in the tree and the home is kept within %i bytes together', async (most, ends) => {
  const { deps, run, recorded } = setupScene(scene.root)
  const fill = (path: string) => `head -c 150000 /dev/urandom > ${path}`
  const envs = envsOf(`${setup}; ${fill('deps/file')}; ${fill('~/.cache/file')}`)
  const environments = { ...deps.environments, mostBytes: most }
  const workspace = await workspaceOf()
  await setUpWorkspace({ ...deps, environments }, { run, projectId: projectId(1), workspace, envs })
  expect(recorded.flatMap(({ data }) => ('code' in data ? [data.code] : []))).toEqual(ends)
  expect(await allLayers(scene.root)).toHaveLength(1 - ends.length)
})

const secret = { name: 'TOKEN', variable: 'TOKEN', value: 'swordfish', forAgent: false }
const allowed = { ...secret, forAgent: true }
test.each<
  [string, string, { secrets: (typeof secret)[]; isTouched?: boolean; isPushed?: boolean; isOfBase?: true }]
>([
  ['every', 'that no agent has worked in', { secrets: [secret] }],
  ['only', 'that an agent has worked in', { secrets: [allowed, secret], isTouched: true }],
  ['only', 'that began at a pushed branch', { secrets: [secret], isPushed: true }],
  [
    'every',
    'that was made of the base branch for a task with earlier work',
    { secrets: [secret], isTouched: true, isOfBase: true },
  ],
  ['every', 'whose agent may use them all', { secrets: [allowed], isTouched: true }],
])('the setup gets %s secrets in a workspace %s', async (gets, _, of) => {
  if (of.isPushed === true) await scene.commit({ 'README.md': '# Of an agent\n' }, `flightdeck/${tasks + 1}`)
  const workspace = await workspaceOf()
  if (of.isTouched === true) markTouched(workspace)
  const { deps, run } = setupScene(scene.root)
  const notes: string[] = []
  const output = { ...run.output, note: async (text: string) => void notes.push(text) }
  const envs = { ...envsOf('echo "${FOR_AGENT:-every}" > gets.txt'), secrets: of.secrets }
  const { isOfBase } = of
  await setUpWorkspace(deps, { run: { ...run, output }, projectId: projectId(1), workspace, envs, isOfBase })
  expect(await readFile(join(workspace.dir, 'gets.txt'), 'utf8')).toBe(`${gets}\n`)
  expect(notes.join('').includes('allow the agent to use that one')).toBe(gets === 'only')
})

test('one that was made with other ignore files is not used, also when the setup fails', async () => {
  const failing = `${setup}; test ! -e broken`
  await setupScene(scene.root).setUp(await workspaceOf(), failing)
  await scene.commit({ '.gitignore': '', broken: '' })
  const { recorded, setUp } = setupScene(scene.root)
  expect(await setUp(await workspaceOf(), failing)).toMatchObject({ kind: 'failed', code: 'setup_failed' })
  expect(recorded.at(-1)).toMatchObject({ data: { code: 'setup_failed', usesEarlier: false } })
})
