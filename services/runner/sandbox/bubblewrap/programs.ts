/** Starts programs in a sandbox that bubblewrap has made and that runs, frozen or not. */
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { CannotStart, spawnProcess } from '#platform/childProcess.ts'
import { keeperScript, keeperWords } from '../programKeeper.ts'
import { environmentOf, launcherEnvironment, sandboxPaths } from '../layout.ts'
import type { CommandEnvironment, SandboxLimits } from '../port.ts'
import { birthOf } from '../processTree.ts'
import { follow, maxPrograms, type Program, type ProgramSpec } from '../program.ts'
import type { SandboxIdentity } from './arguments.ts'
import type { SandboxGroup } from './controlGroups.ts'
import { enterCommand } from './enter.ts'
import { withDescriptorsClosed } from './hostPaths.ts'
import { launcher, launchWords } from './launcher.ts'

/** A running sandbox, for programs that enter it. */
interface Entered {
  readonly identity: SandboxIdentity
  readonly limits: SandboxLimits
  /** The default environment of the commands in the sandbox. */
  readonly environment: CommandEnvironment
  /** Descriptors that no child may get. */
  readonly inherited: readonly number[]
  /** Resolves to the first process of the sandbox, as soon as the sandbox is complete; to `undefined` when the sandbox has ended. */
  readonly enter: () => Promise<{ readonly pid: number; readonly birth: string | undefined } | undefined>
  readonly filter: () => Buffer | undefined
  readonly group: () => SandboxGroup | undefined
  readonly endSandbox: () => void
  /** Called when a keeper is gone that we did not end: somebody else ended it, or the sandbox has ended. */
  readonly onLost: () => void
}

export interface Programs {
  exec(spec: ProgramSpec): Promise<Program>
  /** The process ids of the keepers (sandbox/programKeeper.ts) of these programs. */
  keepers(): readonly number[]
  /** Resolves when all programs have ended. */
  ended(): Promise<unknown>
}

/** The descriptors that the launcher and the keeper read from. `enterCommand` reads 3 and 5, and closes them before anything runs inside. */
const descriptors = { words: 4, control: 6, firstFree: 7 }

export function programsIn(sandbox: Entered): Programs {
  const running = new Set<{ keeper?: number; readonly ended: Promise<unknown> }>()
  return {
    async exec(spec) {
      if (running.size >= maxPrograms) throw new CannotStart(spec.command[0], new Error(tooMany))
      let end: () => void = () => undefined
      const entry: { keeper?: number; readonly ended: Promise<unknown> } = {
        ended: new Promise<void>((resolve) => (end = resolve)),
      }
      const forget = (): void => {
        running.delete(entry)
        end()
      }
      running.add(entry)
      try {
        const program = await start(sandbox, spec, (keeper) => (entry.keeper = keeper))
        const exited = program.exited.then((exit) => {
          forget()
          if (exit.reason === 'lost') sandbox.onLost()
          return exit
        })
        return { ...program, exited }
      } catch (fault) {
        forget()
        throw fault
      }
    },
    keepers: () => [...running].flatMap(({ keeper }) => (keeper === undefined ? [] : [keeper])),
    ended: () => Promise.all([...running].map(({ ended }) => ended)),
  }
}

const tooMany = `there are already ${maxPrograms} others in this sandbox`

async function start(
  { identity, limits, environment, inherited, ...sandbox }: Entered,
  spec: ProgramSpec,
  onKeeper: (pid: number) => unknown,
): Promise<Program> {
  const first = await sandbox.enter()
  const [command] = spec.command
  if (first?.birth === undefined) throw new CannotStart(command, new Error('the sandbox has ended'))
  const words = launchWords({
    limits,
    startIn: sandboxPaths.tree,
    env: environmentOf(spec.env, environment),
    command: keeperWords(spec),
  })
  const inside = launcher(identity, descriptors.words, keeperScript)
  const keeps = [...inside, String(descriptors.control)]
  const known = { pid: first.pid, birth: first.birth }
  const [program, ...args] = withDescriptorsClosed(
    inherited,
    descriptors.firstFree,
    enterCommand({
      first: known,
      hasUserNamespace: identity.kind === 'user_namespace',
      limits,
      start: keeps,
    }),
  )
  const child = spawnProcess(program, args, { env: launcherEnvironment, stdin: 'pipe', extraPipes: 4 })
  const [line, wordPipe, filterPipe, control] = child.pipes
  if (!line || !wordPipe || !filterPipe || !control) throw new CannotStart(command)
  try {
    // Puts the process into the control group before it starts anything, so that everything that it starts is counted too.
    await sandbox.group()?.add(child.pid)
  } catch (fault) {
    child.signalGroup('SIGKILL')
    throw new CannotStart(command, fault)
  }
  line.write('\n')
  wordPipe.end(words)
  filterPipe.end(sandbox.filter())
  const answer = await Promise.race([once(line, 'data'), child.exited.then(() => [])])
  const keeper = Number(/^(\d+)\n$/.exec(String(answer[0] ?? ''))?.[1])
  if (!(keeper > 0)) {
    child.signalGroup('SIGKILL')
    throw new CannotStart(command, new Error((await text(child.stderr)).slice(0, 1_000).trim()))
  }
  line.destroy()
  const birth = await birthOf(keeper)
  onKeeper(keeper)
  return follow({
    child,
    control,
    keeper: async () => ((await birthOf(keeper)) === birth ? keeper : undefined),
    endSandbox: sandbox.endSandbox,
  })
}
