/** Issues that become tasks: what asks for it, and what the project makes of that. */
import { canonicalJson } from '../kernel/canonicalJson.ts'
import type { Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { RecordedOf } from '../kernel/event.ts'
import type { RepositoryRight } from '../task/feedbackEvents.ts'
import {
  ProjectIssuePassed,
  ProjectIssueRuleChanged,
  ProjectIssueSettled,
  ProjectIssueTaken,
  type ProjectIssueEvent,
} from './issueEvents.ts'
import {
  defaultIssueRule,
  issueLimits,
  type IssueFailure,
  type IssuePass,
  type IssueRule,
  type IssueTrigger,
} from './issueRule.ts'

/** An issue that was taken. */
export interface TakenIssue {
  readonly taskId: string
  /** ISO 8601. */
  readonly at: string
  readonly isSettled: boolean
  /** `null` once it is erased. */
  readonly words: EventContent<'ProjectIssueTaken'> | null
  readonly trigger: IssueTrigger
  readonly right: RepositoryRight
}

type EventContent<Type extends ProjectIssueEvent['type']> = Extract<
  ProjectIssueEvent,
  { type: Type }
>['content']

export interface ProjectIssues {
  readonly rule: IssueRule
  /** What was asked for before starts nothing; `null` where the rule was never on. ISO 8601. */
  readonly since: string | null
  /** By the code host's id of the issue. */
  readonly taken: ReadonlyMap<string, TakenIssue>
  /** The same, with why they are no tasks; the latest of them. */
  readonly passed: ReadonlyMap<string, IssuePass>
}

export const noIssues: ProjectIssues = {
  rule: defaultIssueRule,
  since: null,
  taken: new Map(),
  passed: new Map(),
}

/** Somebody asks for a task. Times are the code host's, in ISO 8601. */
export interface IssueAsk {
  readonly trigger: IssueTrigger
  readonly at: string
  readonly author: { readonly id: string; readonly login: string }
  readonly commentId: string | null
}

/** The same, with what the one who asks may do. */
export interface JudgedAsk extends IssueAsk {
  readonly right: RepositoryRight
  /** Whether they use this server. */
  readonly isKnown: boolean
  /** SHA-256 of what the agent is to read where this ask counts. */
  readonly textHash: string
}

export type IssueCommand =
  /** What is not named stays as it is. */
  | ({ readonly type: 'ChangeIssueRule' } & { readonly [Name in keyof IssueRule]?: IssueRule[Name] })
  | {
      readonly type: 'ConsiderIssue'
      readonly issue: EventContent<'ProjectIssuePassed'> & { readonly nodeId: string }
      readonly asks: readonly JudgedAsk[]
      /** When the title or the text was changed last; `null` where they never were. */
      readonly editedAt: string | null
      /** Whether the issue's author may write: nobody else who may not can have changed it. */
      readonly authorMayWrite: boolean
      /** Whether another project of this repository takes its issues. */
      readonly isElsewhere: boolean
      /** Of the task that it is to become. */
      readonly taskId: string
      /** ISO 8601. */
      readonly now: string
    }
  | {
      readonly type: 'SettleIssue'
      readonly taskId: string
      readonly failure: IssueFailure | null
      readonly reason: string | null
    }

const hourMs = 3_600_000
/** The code host's clock may be so far behind ours. */
const graceMs = 60_000

/** Whether a command is about the issues of a project. */
export function isOnIssues<Command extends { readonly type: string }>(
  command: Command,
): command is Extract<Command, IssueCommand> {
  return ['ChangeIssueRule', 'ConsiderIssue', 'SettleIssue'].includes(command.type)
}

/** What a command on issues leads to. */
export function onIssues(issues: ProjectIssues, command: IssueCommand): Decision<ProjectIssueEvent> {
  switch (command.type) {
    case 'ChangeIssueRule': {
      const { on, label, mentions } = { ...issues.rule, ...named(command) }
      return canonicalJson({ on, label, mentions }) === canonicalJson(issues.rule)
        ? []
        : [ProjectIssueRuleChanged.of({ on, mentions }, { label })]
    }
    case 'ConsiderIssue':
      return considerIssue(issues, command)
    case 'SettleIssue': {
      const { taskId, failure, reason } = command
      const taken = [...issues.taken.values()].find((one) => one.taskId === taskId)
      if (!taken) return refuse('not_found', 'No issue was taken for this task.')
      return taken.isSettled ? [] : [ProjectIssueSettled.of({ taskId, failure }, { reason })]
    }
  }
}

function named({ on, label, mentions }: Partial<IssueRule>): Partial<IssueRule> {
  return {
    ...(on === undefined ? {} : { on }),
    ...(label === undefined ? {} : { label }),
    ...(mentions === undefined ? {} : { mentions }),
  }
}

type Consider = Extract<IssueCommand, { type: 'ConsiderIssue' }>

/**
 * Takes an issue, once, where somebody asks for it who may write to the repository and uses this server. Where only they are missing
 * something, it says what; of what others ask nothing is recorded, so that they fill no log.
 */
function considerIssue(issues: ProjectIssues, command: Consider): Decision<ProjectIssueEvent> {
  const { issue, asks, taskId } = command
  const { issueId } = issue
  if (!issues.rule.on || issues.taken.has(issueId)) return []
  const permitted = asks.filter((ask) => mayWrite(ask.right) && isSince(ask, issues.since))
  if (permitted.length === 0) return []
  const ask = latestOf(permitted.filter(({ isKnown }) => isKnown))
  const reason = ask === undefined ? 'not_known' : whyNot(issues, command, ask)
  if (ask !== undefined && reason === null) {
    const { trigger, right, author, commentId, textHash } = ask
    return [ProjectIssueTaken.of({ taskId, trigger, right }, { ...issue, author, commentId, textHash })]
  }
  if (reason === null || issues.passed.get(issueId) === reason) return []
  const { nodeId: _nodeId, ...words } = issue
  return [ProjectIssuePassed.of({ reason }, words)]
}

function whyNot(issues: ProjectIssues, command: Consider, ask: JudgedAsk): IssuePass | null {
  const { editedAt, authorMayWrite, isElsewhere, now } = command
  if (isElsewhere) return 'elsewhere'
  // Within one second nobody can tell which came first.
  if (editedAt !== null && !authorMayWrite && secondOf(editedAt) >= secondOf(ask.at)) return 'edited'
  return limitAt(issues, now)
}

/** The limit that is reached; `null` where there is room for one more. */
function limitAt({ taken }: ProjectIssues, now: string): 'hour' | 'day' | null {
  const within = (ms: number) =>
    [...taken.values()].filter(({ at }) => Date.parse(at) > Date.parse(now) - ms).length
  if (within(24 * hourMs) >= issueLimits.aDay) return 'day'
  return within(hourMs) >= issueLimits.anHour ? 'hour' : null
}

/** Whether one more issue may become a task now. */
export const hasRoom = (issues: ProjectIssues, now: string): boolean => limitAt(issues, now) === null

const secondOf = (time: string): number => Math.floor(Date.parse(time) / 1_000)

const mayWrite = (right: RepositoryRight): boolean => right === 'admin' || right === 'write'

/** Whether it was asked for since the rule holds. */
export function isSince({ at }: Pick<IssueAsk, 'at'>, since: string | null): boolean {
  return since !== null && Date.parse(at) >= Date.parse(since) - graceMs
}

/** From when on issues are read: what was asked for earlier starts nothing. ISO 8601. */
export function readSince(since: string): string {
  return new Date(Date.parse(since) - graceMs).toISOString()
}

/** Who asked last saw the latest text. */
function latestOf(asks: readonly JudgedAsk[]): JudgedAsk | undefined {
  return asks.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)).at(-1)
}

/** The issues of a project after an event about them. */
export function withIssues(before: ProjectIssues, event: RecordedOf<ProjectIssueEvent>): ProjectIssues {
  switch (event.type) {
    case 'ProjectIssueRuleChanged': {
      const { on, mentions } = event.data
      const label = event.content?.label ?? before.rule.label
      return { ...before, rule: { on, label, mentions }, since: on ? event.at : before.since }
    }
    case 'ProjectIssueTaken': {
      const issueId = event.content?.issueId ?? event.data.taskId
      const taken = { ...event.data, at: event.at, isSettled: false, words: event.content }
      return {
        ...before,
        taken: new Map([...before.taken, [issueId, taken]]),
        passed: new Map([...before.passed].filter(([id]) => id !== issueId)),
      }
    }
    case 'ProjectIssueSettled': {
      const { taskId } = event.data
      const taken = [...before.taken].map(
        ([id, one]) => [id, one.taskId === taskId ? { ...one, isSettled: true } : one] as const,
      )
      return { ...before, taken: new Map(taken) }
    }
    case 'ProjectIssuePassed': {
      const { content } = event
      if (content === null) return before
      const others = [...before.passed].filter(([id]) => id !== content.issueId)
      const passed = [...others, [content.issueId, event.data.reason] as const]
      return { ...before, passed: new Map(passed.slice(-issueLimits.passed)) }
    }
  }
}

/** Issues that were taken and of which it is not known yet whether they became tasks. */
export function unsettledOf({ taken }: ProjectIssues): readonly TakenIssue[] {
  return [...taken.values()].filter(({ isSettled }) => !isSettled)
}
