/** Issues that become tasks: what asks for it, and what the project makes of that. */
import { canonicalJson } from '../kernel/canonicalJson.ts'
import type { Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { RepositoryRight } from '../task/codeHost/feedbackEvents.ts'
import {
  ProjectIssuePassed,
  ProjectIssueRuleChanged,
  ProjectIssueSettled,
  ProjectIssuesRead,
  ProjectIssuesUnread,
  ProjectIssueTaken,
  type ProjectIssueEvent,
} from './issueEvents.ts'
import {
  defaultIssueRule,
  isLimit,
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
  /** When it became known whether a task was made of it; `null` until then. ISO 8601. */
  readonly settledAt: string | null
  /** Why no task was made of it; `null` where one was, or is not known yet. */
  readonly failure: IssueFailure | null
  /** `null` once it is erased. */
  readonly words: EventContent<'ProjectIssueTaken'> | null
  readonly trigger: IssueTrigger
  readonly right: RepositoryRight
  /** Until when labels start nothing by what failed before this was taken; `null` where nothing did. ISO 8601. */
  readonly labelFailedAt: string | null
}

type EventContent<Type extends ProjectIssueEvent['type']> = Extract<
  ProjectIssueEvent,
  { type: Type }
>['content']

/** Since when parts of the rule hold; `null` where they never did. ISO 8601. */
export interface RuleSince {
  readonly on: string | null
  /** The label as it is: another one starts nothing by what was labelled before. */
  readonly label: string | null
  readonly mentions: string | null
}

/** An issue that was passed over. */
export interface PassedIssue {
  readonly reason: IssuePass
  /** Whether it may become a task without anything that happens on it. */
  readonly isWaiting: boolean
  readonly words: EventContent<'ProjectIssuePassed'>
}

export interface ProjectIssues {
  readonly rule: IssueRule
  /** What was asked for before starts nothing. */
  readonly since: RuleSince
  /** By the code host's id of the issue. */
  readonly taken: ReadonlyMap<string, TakenIssue>
  /** The same: those that wait for a limit, and the latest of the others that wait and of those that do not. */
  readonly passed: ReadonlyMap<string, PassedIssue>
  /** Up to which change issues were read, by the code host's clock; `null` where that is not recorded yet. ISO 8601. */
  readonly readUpTo: string | null
  /** Why issues cannot be read: a code; `null` while they can. */
  readonly unread: string | null
}

export const noIssues: ProjectIssues = {
  rule: defaultIssueRule,
  since: { on: null, label: null, mentions: null },
  taken: new Map(),
  passed: new Map(),
  readUpTo: null,
  unread: null,
}

/** Somebody asks for a task. Times are the code host's, in ISO 8601. */
export interface IssueAsk {
  readonly trigger: IssueTrigger
  readonly at: string
  readonly author: { readonly id: string; readonly login: string }
  readonly commentId: string | null
}

/** Whether somebody uses this server: `signed_out` where they have to sign in again before that can be told. */
export type Standing = 'known' | 'signed_out' | 'unknown'

/** The same, with what the one who asks may do. */
export interface JudgedAsk extends IssueAsk {
  readonly right: RepositoryRight
  /** `unasked` where nobody could be asked about that for now. */
  readonly standing: Standing | 'unasked'
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
      /** Whether so much happened on the issue that who asks for it may not be among what was read. */
      readonly isCut: boolean
      /** When the title or the text was changed last in a way that those who asked need not agree with; `null` where it never was. */
      readonly editedAt: string | null
      /** Whether the project's owner may write to the repository. */
      readonly ownerMayWrite: boolean
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
  /** Nobody asks any more for an issue that waits, or it is gone. */
  | { readonly type: 'WithdrawIssue'; readonly issueId: string }
  /** `upTo` by the code host's clock, in ISO 8601. */
  | { readonly type: 'NoteIssuesRead'; readonly upTo: string }
  | { readonly type: 'NoteIssuesUnread'; readonly code: string; readonly reason: string }

const hourMs = 3_600_000
/** The code host's clock may be so far behind ours. */
const graceMs = 60_000

const onIssuesTypes: readonly string[] = [
  'ChangeIssueRule',
  'ConsiderIssue',
  'SettleIssue',
  'WithdrawIssue',
  'NoteIssuesRead',
  'NoteIssuesUnread',
] satisfies readonly IssueCommand['type'][]

/** Whether a command is about the issues of a project. */
export function isOnIssues<Command extends { readonly type: string }>(
  command: Command,
): command is Extract<Command, IssueCommand> {
  return onIssuesTypes.includes(command.type)
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
      return taken.settledAt !== null ? [] : [ProjectIssueSettled.of({ taskId, failure }, { reason })]
    }
    case 'WithdrawIssue': {
      const passed = issues.passed.get(command.issueId)
      return passed && isWaiting(issues, command.issueId)
        ? [ProjectIssuePassed.of({ reason: 'withdrawn' }, passed.words)]
        : []
    }
    case 'NoteIssuesRead':
      return noteRead(issues, command.upTo)
    case 'NoteIssuesUnread': {
      const { code, reason } = command
      return !issues.rule.on || issues.unread === code ? [] : [ProjectIssuesUnread.of({ code }, { reason })]
    }
  }
}

/** After a restart so much is read again, so that reading writes one event a day and not one a change. */
const noteEveryMs = 24 * hourMs

function noteRead(issues: ProjectIssues, upTo: string): Decision<ProjectIssueEvent> {
  const from = readFrom(issues)
  if (from === null || !isNews(issues, upTo)) return []
  return [ProjectIssuesRead.of({}, { upTo: Date.parse(upTo) > Date.parse(from) ? upTo : from })]
}

/** Whether it is to be recorded that issues were read up to this change. */
export function isNews(issues: ProjectIssues, upTo: string): boolean {
  const from = readFrom(issues)
  if (!issues.rule.on || from === null) return false
  return issues.unread !== null || Date.parse(upTo) >= Date.parse(from) + noteEveryMs
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
 * Takes an issue, once, where somebody asks for it who may write to the repository and uses this server, in a project whose owner may write,
 * too. Where only they are missing something, it says what; of what others ask nothing is recorded, so that they fill no log.
 */
function considerIssue(issues: ProjectIssues, command: Consider): Decision<ProjectIssueEvent> {
  const { issue, asks, taskId } = command
  const { issueId } = issue
  if (!issues.rule.on || isTaken(issues, issueId)) return []
  const before = issues.taken.get(issueId)
  const isNew = ({ at, trigger }: JudgedAsk) => {
    const failedAt = before === undefined ? null : failedAtOf(issues, before, trigger)
    return failedAt === null || Date.parse(at) > Date.parse(failedAt)
  }
  const permitted = asks.filter((ask) => mayWrite(ask.right) && isSince(ask, issues.since) && isNew(ask))
  const ask = latestOf(permitted.filter(({ standing }) => standing === 'known'))
  const reason = ask === undefined ? whyNobody(issues, command, permitted) : whyNot(issues, command, ask)
  if (ask !== undefined && reason === null) {
    const { trigger, right, author, commentId, textHash } = ask
    return [ProjectIssueTaken.of({ taskId, trigger, right }, { ...issue, author, commentId, textHash })]
  }
  // They may be who counts: of the others nothing is said that may be wrong.
  const mayChange = permitted.some(({ standing }) => standing === 'unasked')
  if (mayChange && (reason === null || !isLimit(reason))) return []
  if (reason === null || issues.passed.get(issueId)?.reason === reason) return []
  const { nodeId: _nodeId, ...words } = issue
  return [ProjectIssuePassed.of({ reason }, words)]
}

/** Why nobody who counts asks for it; `null` where that is nobody's concern. */
function whyNobody(
  issues: ProjectIssues,
  { issue, isCut }: Consider,
  permitted: readonly JudgedAsk[],
): IssuePass | null {
  if (permitted.some(({ standing }) => standing === 'signed_out')) return 'sign_in'
  if (permitted.length > 0) return 'not_known'
  if (isCut) return 'unsure'
  return isWaiting(issues, issue.issueId) ? 'withdrawn' : null
}

function whyNot(issues: ProjectIssues, command: Consider, ask: JudgedAsk): IssuePass | null {
  const { editedAt, ownerMayWrite, isElsewhere, now } = command
  if (!ownerMayWrite) return 'owner'
  if (isElsewhere) return 'elsewhere'
  // Within one second nobody can tell which came first.
  if (editedAt !== null && secondOf(editedAt) >= secondOf(ask.at)) return 'edited'
  return limitAt(issues, now)
}

/** Whether an issue is a task or becomes one. One of which none could be made may be asked for again. */
export function isTaken({ taken }: Pick<ProjectIssues, 'taken'>, issueId: string): boolean {
  const before = taken.get(issueId)
  return before !== undefined && before.failure === null
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

export const mayWrite = (right: RepositoryRight): boolean => right === 'admin' || right === 'write'

/** Whether it was asked for since the rule holds for what asks. */
export function isSince({ at, trigger }: Pick<IssueAsk, 'at' | 'trigger'>, since: RuleSince): boolean {
  const from = trigger === 'label' ? since.label : since.mentions
  return from !== null && Date.parse(at) >= Date.parse(from) - graceMs
}

/** So much earlier that it counts by either clock. */
export const beforeGrace = (at: string): string => new Date(Date.parse(at) - graceMs).toISOString()

/** From which change on issues are read: what was asked for earlier starts nothing, or was read. `null` where the rule was never on. */
export function readFrom({ readUpTo, since }: Pick<ProjectIssues, 'readUpTo' | 'since'>): string | null {
  return readUpTo ?? (since.on === null ? null : beforeGrace(since.on))
}

/** From when on a mention counts; `null` where none does. ISO 8601. */
export function mentionsFrom({ rule, since }: Pick<ProjectIssues, 'rule' | 'since'>): string | null {
  return rule.mentions && since.mentions !== null ? beforeGrace(since.mentions) : null
}

/** Whether an issue was passed over for a reason that may pass away. */
export const isWaiting = ({ passed }: Pick<ProjectIssues, 'passed'>, issueId: string): boolean =>
  passed.get(issueId)?.isWaiting === true

/** Whether an issue was taken by the label that the rule has now. */
export function isByLabel(
  { since }: ProjectIssues,
  { trigger, at }: Pick<TakenIssue, 'trigger' | 'at'>,
): boolean {
  return trigger === 'label' && since.label !== null && Date.parse(at) >= Date.parse(since.label)
}

/** Whether the rule was switched off since an issue was taken, or the mentions by which it was. */
export function isUnwanted(
  { rule, since }: Pick<ProjectIssues, 'rule' | 'since'>,
  { at, trigger }: Pick<TakenIssue, 'at' | 'trigger'>,
): boolean {
  const isBefore = (from: string | null) => from === null || Date.parse(at) < Date.parse(from)
  if (!rule.on || isBefore(since.on)) return true
  return trigger === 'mention' && (!rule.mentions || isBefore(since.mentions))
}

/** Whether no task was made of an issue only because mentions were switched off: that touches no label. */
export const isUnwantedMention = (
  issues: Pick<ProjectIssues, 'rule' | 'since'>,
  { failure, trigger, at }: Pick<TakenIssue, 'failure' | 'trigger' | 'at'>,
): boolean => failure === 'unwanted' && trigger === 'mention' && !isUnwanted(issues, { at, trigger: 'label' })

/** When it last failed, as far as that counts for what asks in this way; `null` where it did not. */
export const failedAtOf = (
  issues: Pick<ProjectIssues, 'rule' | 'since'>,
  taken: TakenIssue,
  trigger: IssueTrigger,
): string | null =>
  trigger === 'label' && isUnwantedMention(issues, taken) ? taken.labelFailedAt : taken.settledAt

/** Who asked last saw the latest text. */
function latestOf(asks: readonly JudgedAsk[]): JudgedAsk | undefined {
  return asks.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)).at(-1)
}

/** Issues that were taken and of which it is not known yet whether they became tasks. */
export function unsettledOf({ taken }: ProjectIssues): readonly TakenIssue[] {
  return [...taken.values()].filter(({ settledAt }) => settledAt === null)
}
