/** What a task's runs took, and which of the commands that its agent ran were tests. */
import type { AnyRecorded } from '../views/view.ts'

export interface RunFacts {
  /** Milliseconds in which its turns and commands ran, until `now`. */
  readonly runningMs: number
  readonly tests: {
    readonly runs: number
    /** How the last one ended; `null` when none has. */
    readonly lastPassed: boolean | null
  }
}

/** The runners of tests that people use most, as they stand in a command line. */
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

/** Of the events of a task's own stream, oldest first. */
export function runFactsOf(events: readonly AnyRecorded[], now: Date): RunFacts {
  let runningMs = 0
  let runs = 0
  let lastPassed: boolean | null = null
  const startedAt = new Map<string, number>()
  const openTests = new Set<string>()
  for (const event of events) {
    switch (event.type) {
      case 'ExecutionStarted':
        startedAt.set(event.data.executionId, Date.parse(event.at))
        break
      case 'ExecutionCompleted':
      case 'ExecutionFailed':
      case 'ExecutionCancelled': {
        const { executionId } = event.data
        runningMs += Date.parse(event.at) - (startedAt.get(executionId) ?? Date.parse(event.at))
        startedAt.delete(executionId)
        break
      }
      case 'ToolStarted':
        if (event.data.kind === 'run' && isTestCommand(event.content?.target ?? '')) {
          runs += 1
          openTests.add(event.data.toolId)
        }
        break
      case 'ToolFinished':
        if (openTests.delete(event.data.toolId))
          lastPassed = event.data.ok && (event.data.exitCode ?? 0) === 0
        break
    }
  }
  for (const at of startedAt.values()) runningMs += Math.max(0, now.getTime() - at)
  return { runningMs, tests: { runs, lastPassed } }
}
