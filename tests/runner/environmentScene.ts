/** The setup of a project in a real workspace without a sandbox, for tests of its environment. */
import type { ProjectEnvironmentEvent } from '#domain/project/environmentEvents.ts'
import { ProjectCreated } from '#domain/project/events.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { logger } from '#platform/log.ts'
import type { EnvironmentDeps } from '../../services/runner/environment/environment.ts'
import {
  setUpWorkspace,
  type Setup,
  type SetupDeps,
} from '../../services/runner/environment/setUpWorkspace.ts'
import { stopping } from '../../services/runner/execution/control.ts'
import { runOutput } from '../../services/runner/execution/recording/terminalOutput.ts'
import { noSandbox } from '../../services/runner/sandbox/none.ts'
import { redactionOf } from '../../services/runner/redaction/redaction.ts'
import type { Sandbox } from '../../services/runner/sandbox/port.ts'
import type { Workspace } from '../../services/runner/workspace/workspace.ts'
import { foldView } from '../domain/fold.ts'
import { recorded as recordedEvent } from '../domain/recorded.ts'
import { projectId, userId } from '../domain/ids.ts'
import { testGit, testPath } from './workspaceScene.ts'

/** Commands that only keep the environment events that they are given. */
export function recordingCommands() {
  const recorded: ProjectEnvironmentEvent[] = []
  const commands: Pick<Commands, 'execute'> = {
    execute: async ({ initial }, _stream, command) => {
      if (isRecord(command)) recorded.push(command.event)
      const head = { revision: recorded.length, hash: '' }
      return { state: initial, head, position: String(recorded.length), repeated: false, events: [] }
    },
  }
  return { commands, recorded }
}

function isRecord(command: unknown): command is { readonly event: ProjectEnvironmentEvent } {
  return typeof command === 'object' && command !== null && 'event' in command
}

const project = {
  githubUrl: 'https://host/ada/sample',
  githubOwner: 'ada',
  githubRepoName: 'sample',
  defaultBranch: 'main',
  language: null,
  githubRepoId: '7',
  name: 'Sample',
  description: '',
}
const created = ProjectCreated.of({ projectId: projectId(1), ownerId: userId(1), isPrivate: false }, project)
const documents: EnvironmentDeps['documents'] = {
  get: async (view, id) =>
    foldView(view, new Map(), [recordedEvent(created, { stream: `project-${id}`, revision: 0 })]).get(id),
}

/** Runs commands as plain processes, and is taken for a sandbox. */
export const testSandbox: Sandbox = { ...noSandbox({ path: testPath, git: testGit }), kind: 'bubblewrap' }

/** The dependencies of setups below a folder, whose commands run in `sandbox`. */
export function setupScene(root: string, sandbox: Sandbox = testSandbox) {
  const { commands, recorded } = recordingCommands()
  const withoutThreads = {
    run: () => Promise.reject(new Error('no text is that long')),
    close: async () => undefined,
  }
  const deps: SetupDeps = {
    root,
    path: testPath,
    git: testGit,
    treeGitFor: () => testGit,
    documents,
    logger: logger('silent'),
    sandbox,
    environments: { mostBytes: 1e9, leastFree: 0, notKept: new Set() },
    limits: {
      atOnce: 1,
      longestMs: 60_000,
      idleMs: 0,
      silentMs: 60_000,
      questionMs: 60_000,
      modelRetryMs: 0,
      serviceReadyMs: 0,
    },
    limit: { says: '', hold: async () => undefined, held: () => [], liftIfGone: async () => undefined },
    redaction: () => redactionOf([], withoutThreads),
    commands: { ...commands },
  }
  const terminal = { append: async () => undefined, tell: () => undefined, head: () => null }
  const output = runOutput(terminal, {
    fence: { executionId: '', attempt: 0 },
    kind: 'turn',
    redaction: deps.redaction([]),
  })
  const run = { stopping: stopping(), output }
  return {
    deps,
    run,
    recorded,
    async setUp(workspace: Workspace, setupCommand: string) {
      const setup = { run, projectId: projectId(1), workspace, envs: envsOf(setupCommand) }
      const begun = await setUpWorkspace(deps, setup)
      return 'ready' in begun ? begun.ready : begun
    },
  }
}

export function envsOf(setupCommand: string): Setup['envs'] {
  const open = async (env: Readonly<Record<string, string>>) => ({
    env,
    readOnly: [],
    sockets: [],
    ownPorts: [],
    relayCount: 0,
    command: (command: readonly [string, ...string[]]) => command,
    close: async () => ({ connections: 0, sent: 0, received: 0 }),
  })
  const withEnv = (env: Readonly<Record<string, string>>) => ({
    fingerprint: '',
    modelFetches: false,
    open: () => open(env),
  })
  return {
    setupCommand,
    variables: [],
    secrets: [],
    withSecrets: withEnv({}),
    forAgent: withEnv({ FOR_AGENT: 'only' }),
  }
}
