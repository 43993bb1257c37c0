/** What a number of concurrent tasks asks of each part, and at how many tasks a part can do no more. Plain arithmetic on measured costs. */
import type { Costs } from './costs.ts'

/** What is assumed of people and agents; all else is measured. */
export interface Assumptions {
  /** The share of concurrent tasks with a turn under way, and the share whose agent waits for the next message. */
  readonly running: number
  readonly waiting: number
  readonly turnMinutes: number
  /** Events that a turn records each minute, beyond the few that every turn has. */
  readonly eventsAMinute: number
  readonly viewersPerTask: number
  readonly runsPerRunner: number
  /** The most of a core that a process may use, so that delays stay short. */
  readonly busy: number
  /** Events that the one writer of the log takes in a second. Not measured: EventStoreDB was not at hand. */
  readonly writesASecond: number
}

export const assumptions: Assumptions = {
  running: 0.25,
  waiting: 0.25,
  turnMinutes: 5,
  eventsAMinute: 60,
  viewersPerTask: 1,
  runsPerRunner: 8,
  busy: 0.7,
  writesASecond: 10_000,
}

/** What a number of concurrent tasks asks for. Processor time is in cores, data in bytes. */
export interface Demand {
  readonly tasks: number
  readonly turnsASecond: number
  readonly eventsASecond: number
  readonly cores: Readonly<{ command: number; query: number; agents: number; runner: number }>
  readonly runners: number
  /** The gateways that are needed; `null` when following the log alone is too much for one, so that no number of them is enough. */
  readonly gateways: number | null
  readonly agentBytes: number
  readonly logBytesADay: number
  readonly documentBytesADay: number
  readonly natsMessagesASecond: number
}

const msOfCore = 1_000
const secondsOfDay = 86_400
/** Of a core for each of many processes: heartbeats come from runners, one a second each. */
const heartbeatsASecond = 1

export function demandOf(tasks: number, costs: Costs, assumed: Assumptions = assumptions): Demand {
  const { turn, event, viewer, agent } = costs
  const running = tasks * assumed.running
  const turnsASecond = running / (assumed.turnMinutes * 60)
  const printedASecond = (running * assumed.eventsAMinute) / 60
  const eventsASecond = turnsASecond * turn.events + printedASecond
  const coresOf = (service: 'command' | 'query' | 'runner') =>
    (turnsASecond * turn.processor[service] + printedASecond * event.processor[service]) / msOfCore
  const runners = Math.ceil(running / assumed.runsPerRunner)
  const followingCores = (eventsASecond * event.followingProcessor) / msOfCore
  const viewerCores = (eventsASecond * assumed.viewersPerTask * viewer.messageProcessor) / msOfCore
  const left = assumed.busy - followingCores
  return {
    tasks,
    turnsASecond,
    eventsASecond,
    cores: {
      command: coresOf('command'),
      query: coresOf('query'),
      runner: coresOf('runner'),
      agents: (turnsASecond * turn.agentProcessor) / msOfCore,
    },
    runners,
    gateways: left <= 0 ? null : Math.max(1, Math.ceil(viewerCores / left)),
    agentBytes: tasks * (assumed.running + assumed.waiting) * agent.memory * 1e6,
    logBytesADay: secondsOfDay * (turnsASecond * turn.logBytes + printedASecond * event.logBytes),
    documentBytesADay:
      secondsOfDay *
      (turnsASecond * (turn.documentBytes + turn.otherBytes) + printedASecond * event.documentBytes),
    natsMessagesASecond:
      runners * heartbeatsASecond + turnsASecond * turn.natsMessages + printedASecond * event.natsMessages,
  }
}

/** A part of which there can be only one, or whose work is the same in each process: more processes do not help it. */
export interface Bound {
  readonly part: string
  readonly why: string
  /** How many concurrent tasks it bears. */
  readonly tasks: number
}

/** The parts that more processes do not help, the first to give in first. */
export function bounds(costs: Costs, assumed: Assumptions = assumptions): readonly Bound[] {
  // All but heartbeats grow with the tasks, so that one task is enough to know how many are borne.
  const sample = 1_000_000
  const { eventsASecond, cores, runners } = demandOf(sample, costs, assumed)
  const borne = (coresUsed: number) => (sample * assumed.busy) / coresUsed
  const { followingProcessor, hearingProcessor } = costs.event
  return [
    {
      part: 'the projector',
      why: 'one query process folds all events into documents',
      tasks: borne(cores.query),
    },
    {
      part: 'a gateway',
      why: 'each gateway reads every event, whoever watches',
      tasks: borne((eventsASecond * followingProcessor) / msOfCore),
    },
    {
      part: 'the leases of command',
      why: 'one process dispatches, seals and follows GitHub',
      tasks: borne(cores.command),
    },
    {
      part: 'hints',
      why: 'each process hears of every event over NATS',
      tasks: borne((eventsASecond * hearingProcessor) / msOfCore),
    },
    {
      part: 'heartbeats of runners',
      why: 'each runner hears every other one each second',
      tasks: borne((runners * heartbeatsASecond * costs.heartbeatProcessor) / msOfCore),
    },
    {
      part: 'the log',
      why: 'one order of all events, so one writer',
      tasks: (sample * assumed.writesASecond) / eventsASecond,
    },
  ].toSorted((one, other) => one.tasks - other.tasks)
}
