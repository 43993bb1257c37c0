/** Facts for comparing tasks, one document per task: how long its executions took, the commit from which it started, and its test runs. */
import { ownDocument, type AnyRecorded, type View, type ViewDocument } from './view.ts'

export interface RunFactsDocument extends ViewDocument {
  /** The full hash of the commit that the task started from; `null` until it is known, and in an empty repository. */
  readonly baseCommit: string | null
  /** The total milliseconds of the task's finished turns and commands, each from the start of its last attempt. */
  readonly runningMs: number
  readonly runs: { readonly executionId: string; readonly startedAt: string } | null
  readonly tests: {
    readonly runs: number
    /** Whether the last finished test run passed; `null` when none has finished. */
    readonly lastPassed: boolean | null
  }
  /** The ids of the running tool calls that run tests. */
  readonly openTests: readonly string[]
}

const folded = [
  'TaskCreated',
  'TaskCreatedToCompare',
  'TaskDeleted',
  'WorkspacePrepared',
  'ExecutionStarted',
  'ExecutionCompleted',
  'ExecutionFailed',
  'ExecutionCancelled',
  'ToolStarted',
  'ToolFinished',
] as const

const touchesOwn = ownDocument('task', folded)

export const runFactsView: View<RunFactsDocument> = {
  collection: 'runFacts',
  version: 1,
  streams: ['task'],
  types: folded,
  indexes: [],
  // Most tool calls do not run tests. Skipping the events of their beginning saves the projector work.
  touches: (event) => (event.type !== 'ToolStarted' || isTest(event) ? touchesOwn(event) : []),
  evolve: (document, event, id) => {
    if (event.type === 'TaskCreated') return document ?? created(event, id)
    if (event.type === 'TaskDeleted') return undefined
    return document && { ...document, version: event.revision, ...changeOf(document, event) }
  },
}

function created(event: Extract<AnyRecorded, { type: 'TaskCreated' }>, id: string): RunFactsDocument {
  return {
    id,
    baseCommit: null,
    runningMs: 0,
    runs: null,
    tests: { runs: 0, lastPassed: null },
    openTests: [],
    position: event.position,
    version: event.revision,
  }
}

function changeOf(document: RunFactsDocument, event: AnyRecorded): Partial<RunFactsDocument> {
  const { runs, runningMs, tests, openTests } = document
  switch (event.type) {
    case 'TaskCreatedToCompare':
    case 'WorkspacePrepared':
      return { baseCommit: document.baseCommit ?? event.content?.baseCommit ?? null }
    case 'ExecutionStarted':
      return { runs: { executionId: event.data.executionId, startedAt: event.at } }
    case 'ExecutionCompleted':
    case 'ExecutionFailed':
    case 'ExecutionCancelled':
      if (runs?.executionId !== event.data.executionId) return {}
      return { runs: null, runningMs: runningMs + between(runs.startedAt, event.at), openTests: [] }
    case 'ToolStarted':
      return {
        tests: { ...tests, runs: tests.runs + 1 },
        openTests: [...openTests, event.data.toolId],
      }
    case 'ToolFinished': {
      const { toolId, ok, exitCode } = event.data
      if (!openTests.includes(toolId)) return {}
      return {
        tests: { ...tests, lastPassed: ok && (exitCode ?? 0) === 0 },
        openTests: openTests.filter((id) => id !== toolId),
      }
    }
    default:
      return {}
  }
}

/** The milliseconds from one time to another; 0 if the clocks of different machines have reversed the order of the two times. */
const between = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from))

/** The total time of the task's turns and commands up to `now`, in milliseconds. */
export function runningMsOf({ runs, runningMs }: RunFactsDocument, now: Date): number {
  return runningMs + (runs === null ? 0 : between(runs.startedAt, now.toISOString()))
}

function isTest({ data: { kind }, content }: Extract<AnyRecorded, { type: 'ToolStarted' }>): boolean {
  return kind === 'run' && isTestCommand(content?.target ?? '')
}

const testCommand = new RegExp(
  [
    String.raw`\b(npm|pnpm|yarn|bun)\s+(run\s+)?(test|t)\b`,
    String.raw`\b(go|cargo|dotnet|deno|mix|swift|zig build|mvn|mvnw|gradle|gradlew)\b[^|;&]*\btest\b`,
    String.raw`\b(make|just|rake|ninja)\s+(-\S+\s+)*(test|tests|check)\b`,
    String.raw`\bcargo\s+nextest\b`,
    String.raw`\b(vitest|jest|mocha|ava|pytest|tox|nox|rspec|phpunit|ctest|playwright\s+test|node\s+--test|python3?\s+-m\s+unittest)\b`,
  ].join('|'),
)

export function isTestCommand(command: string): boolean {
  return testCommand.test(command)
}
