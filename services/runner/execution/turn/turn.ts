/** One turn of an agent: a warm agent or a newly started one gets the message and is followed; afterwards it is kept warm or ended. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import { ModelRetryScheduled } from '#domain/task/events.ts'
import { AnswerDelivered } from '#domain/task/questionEvents.ts'
import { retrySentence, timeInUtc, type PassingFault } from '#domain/task/modelRetry.ts'
import { imageFiles, messageFor } from '../../agents/images.ts'
import { passingFault, retryNotice, toldTo } from '../../agents/modelFaults.ts'
import type { SetUp } from '../../environment/setUpWorkspace.ts'
import type { AgentError, AgentImage } from '../../agents/port.ts'
import { anyAmount, type Budget } from '../../model/budget.ts'
import type { SandboxExit } from '../../sandbox/port.ts'
import { eventRecorder } from './agentEvents.ts'
import type { AgentProcess, TurnListener } from './agentProcess.ts'
import {
  agentSetup,
  firstMessage,
  homeFilesFor,
  refusalIn,
  openSandboxFor,
  startAgent,
  startFingerprint,
  type EquippedRequest,
  type AgentSetup,
} from './agentSetup.ts'
import { failed, outcomeOfStop, type Failed } from '../failure.ts'
import { messageTexts } from '../recording/messageText.ts'
import { runOutput } from '../recording/terminalOutput.ts'
import type { ExecutionDeps, Run } from '../runTypes.ts'
import { timeInWords } from '../runLimits.ts'
import { agentQuestions } from './agentQuestions.ts'
import { recordingMcp } from './mcpRecorder.ts'
import { steerTurn } from './steering.ts'
import { toolImages } from './toolImages.ts'
import { turnMessages } from './turnMessages.ts'

export interface TurnRequest extends EquippedRequest {
  readonly run: Run
  readonly message: string
  /** Returns the message with the conversation before it, for an agent that has lost its session. */
  readonly messageWithConversation: () => Promise<string>
  readonly images: readonly AgentImage[]
  /** The questions whose answers are at the beginning of the message. */
  readonly lateAnswers: readonly string[]
  readonly effort: string | null
  /** The session to resume, if the agent had one in this task. */
  readonly session: string | null
  readonly early: ReturnType<ExecutionDeps['prewarm']['earlySandbox']>
  /** Secrets that no record may show. */
  readonly secrets: readonly string[]
  /** Resolves when the workspace is set up, or cannot be. The agent may start before that, but gets no message until then. */
  readonly ready: Promise<SetUp>
}

export async function runTurn(deps: ExecutionDeps, request: TurnRequest): Promise<ExecutionOutcome> {
  const setup = await agentSetup(deps, request)
  if (setup.kind === 'failed') return setup
  const { executionId } = request.run.fence
  const { payer } = setup.account
  // Only usage that the server pays for is limited by its budgets.
  const isOwn = payer === 'person' || payer === 'project'
  const budget = isOwn ? anyAmount : deps.budgets.ofRun({ userId: request.ownerId, executionId })
  // An agent with a key of its own does not use the broker. So the budget can only refuse the whole turn.
  const refusal = setup.agent.access.kind === 'key' ? await budget.refusal() : undefined
  if (refusal !== undefined) return failed('budget', refusal)
  try {
    return await turnWithin(deps, request, setup, budget)
  } finally {
    await budget.settled()
  }
}

/** Runs a turn. If the model could not answer for a temporary reason, runs the turn once more after a pause. */
async function turnWithin(
  deps: ExecutionDeps,
  request: TurnRequest,
  setup: AgentSetup,
  budget: Budget,
): Promise<ExecutionOutcome> {
  const first = await tryTurn(deps, request, setup, budget)
  if (first.kind !== 'unanswered') return first
  const { session, failure } = first
  if (deps.limits.modelRetryMs === 0) return failure
  await waitForModel(deps, request, first.code)
  const stopped = outcomeOfStop(request.run.stopping)
  if (stopped) return stopped
  const second = await tryTurn(deps, { ...request, session: session ?? request.session }, setup, budget)
  return second.kind === 'unanswered' ? second.failure : second
}

async function tryTurn(
  deps: ExecutionDeps,
  request: TurnRequest,
  setup: AgentSetup,
  budget: Budget,
): Promise<ExecutionOutcome | Unanswered> {
  const { workspace } = request
  const refused = refusalIn(setup, workspace)
  if (refused) return refused
  const home = await homeFilesFor(deps, setup, request)
  const fingerprint = startFingerprint(setup, home)
  const { taskId } = workspace
  const warm = await deps.prewarm.agents.take(taskId, { setup: fingerprint, session: request.session })
  if (warm) {
    const outcome = await turnOn(deps, request, { setup, fingerprint, budget, process: warm, isWarm: true })
    if (outcome !== 'not_taken') return outcome
  }
  const start = async (session: string | null, words = request.message) => {
    const message = session === null ? firstMessage(words, setup, request) : words
    const files = [...home, ...imageFiles(setup.agent, request.images)]
    const process = await startAgent(openedFor(deps, request, setup, session), setup, files, workspace)
    return turnOn(deps, { ...request, message }, { setup, fingerprint, budget, process, isWarm: false })
  }
  const first = await start(request.session)
  if (first !== 'not_taken') return first
  // A session that was never stored cannot be resumed: the agent starts a new one, and gets the conversation with the message.
  const second = await start(null, await request.messageWithConversation())
  return second === 'not_taken' ? failed('unknown_session', 'The agent could not start a session.') : second
}

async function openedFor(
  deps: ExecutionDeps,
  request: TurnRequest,
  setup: AgentSetup,
  session: string | null,
) {
  const early = await request.early?.take({ fingerprint: setup.fingerprint, session })
  return early ?? openSandboxFor(deps, request, setup, session)
}

interface StartedAgent {
  readonly setup: AgentSetup
  readonly fingerprint: string
  readonly budget: Budget
  readonly process: AgentProcess
  readonly isWarm: boolean
}

/** The result of a turn in which the model could not answer for a temporary reason. */
interface Unanswered {
  readonly kind: 'unanswered'
  readonly code: PassingFault
  readonly session: string | undefined
  readonly failure: Failed
}

/**
 * Runs the turn with an agent that was started. Resolves to `not_taken` when the agent did not accept the message, because its session or its process
 * no longer exists.
 */
async function turnOn(
  deps: ExecutionDeps,
  request: TurnRequest,
  started: StartedAgent,
): Promise<ExecutionOutcome | Unanswered | 'not_taken'> {
  const { run, workspace } = request
  const { process } = started
  const limits = watchLimits(deps, run, process)
  const { recorder, messages, steering, questions, services, home, stderr, ...turn } = openTurn(
    deps,
    request,
    {
      ...started,
      onWaiting: limits.onWaiting,
    },
  )
  const listener = { ...turn.listener, onOutput: limits.onOutput }
  let isKept = false
  try {
    const unready = await request.ready
    if (unready) return unready
    await process.services.beginTurn({
      ...services,
      signal: run.stopping.signal,
      readyMs: deps.limits.serviceReadyMs,
    })
    const stoppedBefore = outcomeOfStop(run.stopping)
    if (stoppedBefore) return stoppedBefore
    limits.onOutput()
    const id = deps.ids.uuid()
    const { message: text, images } = request
    const message = messageFor(process.agent, { text, images, id }, home)
    messages.add(id)
    const { model, effort } = request
    await process.turn(message, { model, effort }, listener).finally(() => steering.stop())
    const session = recorder.session()
    const mayStay =
      process.agent.turns === 'many' && deps.limits.idleMs > 0 && run.stopping.reason() === undefined
    if (mayStay && session !== undefined && messages.isOver() && messages.isCompleted()) {
      // An agent that cannot be frozen is ended: the next turn resumes its session.
      isKept = await process.freeze()
      const fingerprint = { setup: started.fingerprint, session }
      if (isKept) await deps.prewarm.agents.keep(workspace, process, fingerprint, deps.limits.idleMs)
      return { kind: 'completed', exitCode: null }
    }
    // A cancelled agent is killed, since it would otherwise begin with the messages that wait in its input.
    if (run.stopping.reason() === 'cancelled') process.kill()
    const exit = await process.close(listener)
    const stopped = outcomeOfStop(run.stopping)
    if (stopped) return stopped
    const unreported = () => {
      const fault = process.agent.faultOf(stderr(), exit.code)
      return fault && toldTo(started.setup.account.told, fault)
    }
    const error = recorder.lastError() ?? unreported()
    const isUnknown = error?.code === 'unknown_session'
    if (isUnknown || (started.isWarm && session === undefined)) return 'not_taken'
    if (messages.isCompleted()) return { kind: 'completed', exitCode: null }
    const { redaction } = services
    const told = error && { ...error, message: await redaction.text(error.message) }
    const failure = failureOf(told, exit, (await redaction.text(stderr())).trim())
    const code = error ? passingFault(error) : undefined
    return code === undefined ? failure : { kind: 'unanswered', code, session, failure }
  } finally {
    limits.stop()
    questions.stop()
    if (!isKept) await process.close()
    await process.services.endTurn()
    await turn.output.end()
  }
}

/** Opens everything that follows the agent during a turn: recorders, steering, questions, and the listener that feeds them. */
function openTurn(
  deps: ExecutionDeps,
  { run, workspace, secrets, session, lateAnswers, effort }: TurnRequest,
  { setup, process, budget, isWarm, onWaiting }: StartedAgent & Pick<TurnLimits, 'onWaiting'>,
) {
  const { fence, reporter, terminal, changes } = run
  const { account } = setup
  const { agent, version, isScripted } = process
  changes.hide(process.secrets)
  // The turn needs a redaction of its own, since the secrets of the process are known only now.
  const redaction = deps.redaction([...secrets, ...process.secrets])
  const output = runOutput(terminal, { fence, kind: 'turn', redaction })
  // The output of services is recorded apart from that of the agent. If both were mixed, a secret could be torn apart and would not be recognized.
  const services = { output: runOutput(terminal, { fence, kind: 'turn', redaction }), redaction }
  const messages = turnMessages()
  const { taskId } = workspace
  const { home } = setup.sandbox.paths(workspace)
  const steering = steerTurn(deps, { steering: run.steering, reporter, taskId, process, messages })
  const questions = agentQuestions(deps, { run, taskId, process, redaction, onWaiting })
  let undelivered = lateAnswers
  const onSeen = async (ids: readonly string[]) => {
    const delivered = undelivered.map((questionId) =>
      AnswerDelivered.of({ executionId: fence.executionId, questionId }),
    )
    undelivered = []
    if (delivered.length > 0) await reporter.report(...delivered)
    await steering.seen(ids)
  }
  const parts = { fence, messages, reporter, output, changes, redaction, questions }
  const events = eventRecorder({
    ...parts,
    onBegun: steering.begin,
    onSeen,
    agent: {
      name: agent.name,
      version,
      resumed: process.resumed || (isWarm && session !== null),
      ...(account.payer !== null && { payer: account.payer }),
      ...(agent.choosesLive === true && effort !== null && { effort }),
    },
    keepImages: toolImages(deps, { taskId, executionId: fence.executionId }),
    texts: messageTexts({ terminal, fence, redaction, clock: deps.clock }),
    elapsed: () => performance.now(),
  })
  const recorder = recordingMcp(events, { ...parts, mcp: process.mcp })
  let stderr = ''
  const listener: Omit<TurnListener, 'onOutput'> = {
    budget,
    onModelCall(call) {
      deps.emit({ kind: 'model_call', executionId: fence.executionId, agent: agent.name, ...call })
      const text = agent.retriesSilently === true ? retryNotice(call.status) : undefined
      // The call may end after the turn, so nothing waits for this record. If it fails, the next record fails too and reports the fault.
      if (text !== undefined) recorder.record({ type: 'notice', text }).catch(() => undefined)
    },
    onEvent(event) {
      // The broker already meters the usage of other agents, request by request.
      if (event.type === 'usage' && agent.access.kind === 'key') budget.spend(event)
      return recorder.record(event.type === 'error' ? toldTo(account.told, event) : event)
    },
    // An agent that was interrupted need not answer messages that it has not taken up.
    isOver: () => messages.isOver() || (run.stopping.reason() === 'cancelled' && messages.hasEnded()),
    async onStderr(chunk) {
      stderr = `${stderr}${chunk.toString('utf8')}`.slice(-keptTail)
      const shown = agent.shownStderr(chunk.toString('utf8'), isScripted)
      if (shown !== '') await output.stderr.write(shown)
    },
  }
  return { output, services, messages, home, steering, questions, recorder, listener, stderr: () => stderr }
}

/** The time that a cancelled agent has to end before it is killed. */
const interruptMs = 5_000

interface TurnLimits {
  /** Called when the agent prints something. */
  onOutput(): void
  /**
   * Called when the agent starts or stops waiting for a person. While it waits, the limits on its silence and its time pause. The limit on the wait
   * for an answer applies instead.
   */
  onWaiting(isWaiting: boolean): void
  stop(): void
}

/** Ends the agent of a turn that is stopped, is silent for too long, or takes too long. A cancelled agent is interrupted before it is killed. */
function watchLimits(
  { limits: { silentMs, longestMs, questionMs } }: Pick<ExecutionDeps, 'limits'>,
  { stopping, waits }: Run,
  process: AgentProcess,
): TurnLimits {
  const { signal } = stopping
  let ending: NodeJS.Timeout | undefined
  const onStop = () => {
    if (stopping.reason() !== 'cancelled') return process.kill()
    process.interrupt()
    ending = setTimeout(() => process.kill(), interruptMs)
  }
  const sentence = (why: string) => `The agent was stopped ${why}.`
  const silent = sentence(`because it was silent for ${timeInWords(silentMs)}`)
  const late = sentence(`after ${timeInWords(longestMs)}`)
  const unanswered = sentence(
    `because nobody answered it for ${timeInWords(questionMs)}. Your answer starts its next turn`,
  )
  const begun = performance.now()
  let waitedMs = 0
  let waitingSince: number | undefined
  let timers: readonly NodeJS.Timeout[] = []
  const clear = () => timers.forEach((timer) => clearTimeout(timer))
  const work = () => {
    clear()
    const leftMs = longestMs - (performance.now() - begun - waitedMs)
    timers = [
      setTimeout(() => stopping.stop('silent', silent), silentMs),
      setTimeout(() => stopping.stop('too_long', late), Math.max(0, leftMs)),
    ]
  }
  work()
  if (signal.aborted) onStop()
  else signal.addEventListener('abort', onStop, { once: true })
  return {
    onOutput() {
      if (waitingSince === undefined) timers[0]?.refresh()
    },
    onWaiting(isWaiting) {
      if (isWaiting === (waitingSince !== undefined)) return
      waits(isWaiting)
      if (isWaiting) {
        clear()
        waitingSince = performance.now()
        timers = [setTimeout(() => stopping.stop('unanswered', unanswered), questionMs)]
      } else {
        waitedMs += performance.now() - (waitingSince ?? 0)
        waitingSince = undefined
        work()
      }
    },
    stop() {
      clear()
      clearTimeout(ending)
      signal.removeEventListener('abort', onStop)
    },
  }
}

/** Says in the chat and the terminal that the model will be asked once more. Waits until then, or until the run is stopped. */
async function waitForModel(
  { clock, limits: { modelRetryMs } }: ExecutionDeps,
  { run, agent }: TurnRequest,
  code: PassingFault,
): Promise<void> {
  const retryAt = new Date(clock.now().getTime() + modelRetryMs).toISOString()
  const data = { executionId: run.fence.executionId, messageId: randomUUID(), agent, code, retryAt }
  await run.reporter.report(ModelRetryScheduled.of(data))
  await run.output.note(`${retrySentence(code, timeInUtc(retryAt))}\n`)
  await sleep(modelRetryMs, undefined, { signal: run.stopping.signal }).catch(() => undefined)
}

/** The number of characters that are kept of the last output on stderr: an error may list every model there is. */
const keptTail = 16_000
/** When an agent has died, a person sees this many characters from the end of its stderr. */
const shownTail = 1_000

/** Why a turn failed whose agent has ended: by a limit of its sandbox, by a fault that the agent reported, or for an unknown reason. */
export function failureOf(error: AgentError | null, exit: SandboxExit, stderr: string): Failed {
  if (exit.reason === 'memory_limit')
    return failed('memory_limit', 'The agent used more memory than a run is allowed.')
  if (exit.reason === 'time_limit')
    return failed('time_limit', 'The agent was stopped because it had run for 24 days.')
  if (error) return failed(error.code, error.message)
  return failed(
    'agent_died',
    stderr.slice(-shownTail) ||
      `The agent ended without a result (exit ${exit.code ?? exit.signal ?? 'unknown'}).`,
  )
}
