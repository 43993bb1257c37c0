/** One turn of an agent: given its message, by one that waits in its box or that is started, listened to, ended. */
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import { messageFor } from '../agents/images.ts'
import type { Agent, AgentImage, HomeFile } from '../agents/port.ts'
import type { Budget } from '../broker/budget.ts'
import type { WorkspaceDeps, RunnerDeps } from '../deps.ts'
import type { SandboxExit } from '../sandbox/port.ts'
import type { AgentProcess, Hearing } from './agent.ts'
import { agentSetup, beginIn, homeFor, openFor, type AgentSetup, type AgentWish } from './agentSetup.ts'
import type { EarlySandbox } from '../prewarm/earlySandbox.ts'
import { timeInWords } from './runLimits.ts'
import { listener, type Listener } from './agentEvents.ts'
import { messageTexts } from './recording/messageText.ts'
import { failed } from './failed.ts'
import type { Run } from './run.ts'
import { steerTurn } from './deliverSteering.ts'
import { runOutput } from './recording/terminalOutput.ts'
import { outcomeOfStop } from './stopping.ts'

export interface TurnRequest extends AgentWish {
  readonly run: Run
  readonly message: string
  readonly images: readonly AgentImage[]
  /** The session to resume, when the agent had one in this task. */
  readonly session: string | null
  /** A box that was opened for this turn. */
  readonly early: EarlySandbox | undefined
  /** Whose day the turn takes from. */
  readonly ownerId: string
  /** Secrets that must not show in anything that is recorded. */
  readonly secrets: readonly string[]
}

const interruptMs = 5_000
/** Characters of what was last said on stderr: a fault may list every model there is. */
const keptTail = 16_000
/** Of these, as many explain an agent's death to a person. */
const shownTail = 1_000

export async function runTurn(deps: RunnerDeps, request: TurnRequest): Promise<ExecutionOutcome> {
  const setup = await agentSetup(deps, request)
  if (setup.kind === 'failed') return setup
  const { executionId } = request.run.fence
  const budget = deps.budgets.ofRun({ userId: request.ownerId, executionId })
  // An agent that reaches its model by itself can only be refused its turn as a whole.
  const refusal = setup.agent.access === 'key' ? await budget.refusal() : undefined
  if (refusal !== undefined) return failed('budget', refusal)
  try {
    return await turnWithin(deps, request, setup, budget)
  } finally {
    await budget.settled()
  }
}

async function turnWithin(
  deps: RunnerDeps,
  request: TurnRequest,
  setup: AgentSetup,
  budget: Budget,
): Promise<ExecutionOutcome> {
  const { workspace } = request
  const home = await homeFor(setup, workspace)
  const fingerprint = waitsAs(setup, home)
  const waiting = await deps.warm.take(workspace.taskId, { setup: fingerprint, session: request.session })
  if (waiting) {
    const as = { setup, fingerprint, budget, process: waiting, isWaiting: true }
    const outcome = await turnOf(deps, request, as)
    if (outcome !== 'unheard') return outcome
  }
  const open = async (session: string | null) =>
    (await request.early?.take({ fingerprint: setup.fingerprint, session })) ??
    openFor(deps, request, setup, session)
  const start = async (session: string | null) => {
    const process = await beginIn(open(session), home, workspace)
    return turnOf(deps, request, { setup, fingerprint, budget, process, isWaiting: false })
  }
  const first = await start(request.session)
  if (first !== 'unheard') return first
  // A session that never came to be cannot be resumed: the agent starts anew and is given the message again.
  const second = await start(null)
  return second === 'unheard' ? failed('unknown_session', 'The agent could not start a session.') : second
}

/** Starts an agent that waits for the first message of a task. False when there is none to start, or it would not wait. */
export async function prewarmAgent(deps: WorkspaceDeps, wish: AgentWish, waitMs: number): Promise<boolean> {
  const setup = await agentSetup(deps, wish)
  if (setup.kind === 'failed' || setup.agent.dialogue !== 'open') return false
  const { workspace } = wish
  const home = await homeFor(setup, workspace)
  const process = await beginIn(openFor(deps, wish, setup, null), home, workspace)
  await deps.warm.keep(workspace, process, { setup: waitsAs(setup, home), session: null }, waitMs)
  return true
}

/** What an agent that waits must have been started with. */
function waitsAs({ fingerprint }: AgentSetup, home: readonly HomeFile[]): string {
  return JSON.stringify([fingerprint, home])
}

/** `unheard`: the agent took no notice of the message, as its session or its process is gone. */
async function turnOf(
  deps: RunnerDeps,
  { run, workspace, message, images, session: before, secrets: ofRun }: TurnRequest,
  {
    setup: { agent, sandbox },
    fingerprint,
    budget,
    process,
    isWaiting,
  }: { setup: AgentSetup; fingerprint: string; budget: Budget; process: AgentProcess; isWaiting: boolean },
): Promise<ExecutionOutcome | 'unheard'> {
  const secrets = [...ofRun, ...process.secrets]
  run.changes.hide(process.secrets)
  // Its own: what the process alone was given is known only now.
  const redaction = deps.redaction(secrets)
  const output = runOutput(run.terminal, { fence: run.fence, kind: 'turn', redaction })
  const heard = listener({
    fence: run.fence,
    agent: {
      name: agent.name,
      version: process.version,
      resumed: process.resumed || (isWaiting && before !== null),
    },
    reporter: run.reporter,
    output,
    texts: messageTexts({ terminal: run.terminal, fence: run.fence, redaction, clock: deps.clock }),
    changes: run.changes,
    redaction,
    elapsed: () => performance.now(),
  })
  const unwatch = watch(deps, run, process)
  let told = ''
  const hearing: Hearing = {
    budget,
    alive: unwatch.alive,
    hear(event) {
      // What goes by the broker is metered there, request by request.
      if (event.type === 'usage' && agent.access === 'key') budget.spend(event)
      return heard.hear(event)
    },
    isOver: () => heard.ended() !== undefined,
    async complain(chunk) {
      told = `${told}${chunk.toString('utf8')}`.slice(-keptTail)
      await output.stderr.write(deps.model.kind === 'scripted' ? withoutModelWarning(chunk) : chunk)
    },
  }
  let isKept = false
  try {
    const home = { dir: workspace.homeDir, seenAs: sandbox.paths(workspace).home, owner: workspace.owner }
    const steered = steerTurn(deps, { run, taskId: workspace.taskId, process, home })
    await process
      .turn(await messageFor(agent, { text: message, images }, home), hearing)
      .finally(() => steered.stop())
    const isFinished = steered.count() > 0 && run.stopping.reason() === undefined
    if (isFinished) await process.finish(hearing)
    const session = heard.session()
    const mayStay =
      !isFinished &&
      agent.dialogue === 'open' &&
      deps.limits.idleMs > 0 &&
      run.stopping.reason() === undefined
    if (mayStay && session !== undefined && heard.ended()?.ok === true) {
      // One that cannot be brought to rest is ended: the next turn goes on with its session.
      isKept = await process.rest()
      if (!isKept) return { kind: 'completed', exitCode: null }
      await deps.warm.keep(workspace, process, { setup: fingerprint, session }, deps.limits.idleMs)
      return { kind: 'completed', exitCode: null }
    }
    const exit = await process.close(hearing)
    const stopped = outcomeOfStop(run.stopping)
    if (stopped) return stopped
    const error = heard.lastError() ?? agent.faultOf(told, exit.code)
    const isUnknown = error?.code === 'unknown_session'
    // A process that waited and is gone, or a session that is: the message was not heard.
    if (isUnknown || (isWaiting && session === undefined)) return 'unheard'
    return outcomeOf(agent, heard, exit, told.trim())
  } finally {
    unwatch.stop()
    if (!isKept) await process.close()
    await output.end()
  }
}

/** Stops the agent when the run is to stop: asked first where a person cancelled, ended at once for every other reason. */
function watch(
  { limits }: Pick<RunnerDeps, 'limits'>,
  run: Run,
  process: AgentProcess,
): { alive(): void; stop(): void } {
  const { signal } = run.stopping
  let ending: NodeJS.Timeout | undefined
  const onStop = () => {
    if (run.stopping.reason() !== 'cancelled') return process.kill()
    process.interrupt()
    ending = setTimeout(() => process.kill(), interruptMs)
  }
  const silence = setTimeout(
    () =>
      run.stopping.stop(
        'silent',
        `The agent was stopped because it was silent for ${timeInWords(limits.silentMs)}.`,
      ),
    limits.silentMs,
  )
  const tooLong = setTimeout(
    () => run.stopping.stop('too_long', `The agent was stopped after ${timeInWords(limits.longestMs)}.`),
    limits.longestMs,
  )
  if (signal.aborted) onStop()
  else signal.addEventListener('abort', onStop, { once: true })
  return {
    alive: () => silence.refresh(),
    stop() {
      clearTimeout(silence)
      clearTimeout(tooLong)
      clearTimeout(ending)
      signal.removeEventListener('abort', onStop)
    },
  }
}

/** The CLI wonders about the scripted model's name, which is ours: that is nothing to a person. */
function withoutModelWarning(chunk: Buffer): string {
  return chunk.toString('utf8').replace(/^\[claude-code:unrecognized_model\].*\n?/gm, '')
}

function outcomeOf(agent: Agent, heard: Listener, exit: SandboxExit, told: string): ExecutionOutcome {
  const end = heard.ended()
  const error = heard.lastError() ?? agent.faultOf(told, exit.code)
  if (end?.ok) return { kind: 'completed', exitCode: null }
  if (exit.reason === 'memory_limit')
    return failed('memory_limit', 'The agent used more memory than a run is allowed.')
  if (error) return failed(error.code, error.message)
  return failed(
    'agent_died',
    told.slice(-shownTail) ||
      `The agent ended without a result (exit ${exit.code ?? exit.signal ?? 'unknown'}).`,
  )
}
