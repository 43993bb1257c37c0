/** Writes the tables of `docs/scale.md` from the costs that `tests/load/scale.ts` has measured. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Costs } from '../load/scale/costs.ts'
import { assumptions, bounds, demandOf, type Demand } from '../load/scale/demand.ts'

export const costsFile = fileURLToPath(new URL('../data/scale.json', import.meta.url))
export const scaleDocument = fileURLToPath(new URL('../../docs/scale.md', import.meta.url))

const sizes = [100, 10_000, 1_000_000]

export async function readCosts(): Promise<Costs> {
  return Costs.parse(JSON.parse(await readFile(costsFile, 'utf8')))
}

/** The document with new tables between its markers. Throws when a marker is missing. */
export function withScaleTables(document: string, costs: Costs): string {
  const tables = {
    assumptions: assumptionsLine(),
    costs: costsTable(costs),
    demand: demandTable(costs),
    bounds: boundsTable(costs),
  }
  return Object.entries(tables).reduce((text, [name, table]) => {
    const marked = new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- end -->)`)
    if (!marked.test(text)) throw new Error(`docs/scale.md has no place for the table ${name}.`)
    return text.replace(marked, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`)
  }, document)
}

function costsTable({ turn, event, viewer, agent, heartbeatProcessor, atRest, machine, day }: Costs): string {
  const ms = (value: number) => `${rounded(value)} ms`
  return [
    `Measured on ${day}: ${machine}.`,
    '',
    ...table(
      ['', 'A turn', 'An event'],
      [
        ['events', rounded(turn.events), '1'],
        ...(['command', 'query', 'gateway', 'runner'] as const).map((service) => [
          `processor time of ${service}`,
          ms(turn.processor[service]),
          ms(event.processor[service]),
        ]),
        ['processor time of the agent', ms(turn.agentProcessor), ''],
        ['messages over NATS', rounded(turn.natsMessages), rounded(event.natsMessages)],
        ['bytes of the log', inBytes(turn.logBytes), inBytes(event.logBytes)],
        ['bytes of documents', inBytes(turn.documentBytes), inBytes(event.documentBytes)],
        ['bytes of diffs, snapshots and keys', inBytes(turn.otherBytes), ''],
      ],
    ),
    '',
    ...table(
      ['What', 'Takes'],
      [
        ['a process at rest', `${rounded(Math.max(...Object.values(atRest.memory)))} MB`],
        ['an agent, at work or waiting', `${rounded(agent.memory)} MB`],
        [
          'a viewer, in its gateway',
          `${rounded(viewer.memory * 1_000)} kB, and ${ms(viewer.messageProcessor)} a message`,
        ],
        ['an event, in each gateway without a viewer of it', ms(event.followingProcessor)],
        ['an event, in each other process', ms(event.hearingProcessor)],
        ['a heartbeat of a runner, in each process', ms(heartbeatProcessor)],
        ['a small workspace, on its runner', inBytes(turn.workspaceBytes)],
      ],
    ),
  ].join('\n')
}

function demandTable(costs: Costs): string {
  const demands = sizes.map((tasks) => demandOf(tasks, costs))
  const row = (name: string, of: (demand: Demand) => string) => [name, ...demands.map(of)]
  return table(
    ['Concurrent tasks', ...sizes.map(rounded)],
    [
      row('events a second', ({ eventsASecond }) => rounded(eventsASecond)),
      row('messages over NATS a second', ({ natsMessagesASecond }) => rounded(natsMessagesASecond)),
      row('cores of command', ({ cores }) => rounded(cores.command)),
      row('cores of query', ({ cores }) => rounded(cores.query)),
      row('gateways', ({ gateways }) => (gateways === null ? 'no number is enough' : rounded(gateways))),
      row('runners', ({ runners }) => rounded(runners)),
      row('cores of runners and agents', ({ cores }) => rounded(cores.runner + cores.agents)),
      row('memory of agents', ({ agentBytes }) => inBytes(agentBytes)),
      row('the log, a day', ({ logBytesADay }) => inBytes(logBytesADay)),
      row('documents, diffs and snapshots, a day', ({ documentBytesADay }) => inBytes(documentBytesADay)),
      row('saturated first', ({ tasks }) => saturated(tasks, costs)),
    ],
  ).join('\n')
}

/** The part that gives in first, if it has at this number of tasks; otherwise how much of it is used. */
function saturated(tasks: number, costs: Costs): string {
  const over = bounds(costs).filter((bound) => bound.tasks < tasks)
  if (over.length > 0) return over.map(({ part }) => part).join(', ')
  const [first] = bounds(costs)
  return first === undefined ? '' : `none; ${first.part} is used to ${rounded((100 * tasks) / first.tasks)} %`
}

function boundsTable(costs: Costs): string {
  const rows = bounds(costs).map(({ part, why, tasks }) => [part, why, rounded(tasks)])
  return table(['Part', 'Why more processes do not help', 'Concurrent tasks'], rows).join('\n')
}

function assumptionsLine(): string {
  const { running, waiting, turnMinutes, eventsAMinute, viewersPerTask, runsPerRunner, busy, writesASecond } =
    assumptions
  return `Of all concurrent tasks, ${running * 100} % have a turn under way and ${waiting * 100} % an agent that waits; a turn takes ${turnMinutes} minutes and records ${eventsAMinute} events a minute; each task has ${viewersPerTask} viewer; a runner has ${runsPerRunner} runs; a process may use ${busy * 100} % of a core; the log takes ${rounded(writesASecond)} events a second, which was not measured.`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)]
}

/** Two digits that count: more would say more than was measured. */
function rounded(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 2 })
}

function inBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${rounded(bytes / 1_000 ** power)} ${units[power]}`
}
