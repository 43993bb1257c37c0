/** Decides which issues of a project become tasks. */
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
} from './events.ts'
import {
  defaultIssueRule,
  isLimit,
  issueLimits,
  type IssueFailure,
  type IssuePass,
  type IssueRule,
  type IssueTrigger,
} from './issueRule.ts'

export interface TakenIssue {
  readonly taskId: string
  /** When the issue was accepted, in the format of ISO 8601. */
  readonly at: string
  /** When the outcome (a task or a failure) was recorded, in the format of ISO 8601; `null` before. */
  readonly settledAt: string | null
  /** Why the issue did not become a task; `null` when it became a task, and before the outcome is recorded. */
  readonly failure: IssueFailure | null
  /** The texts of the issue; `null` once they were erased. */
  readonly words: EventContent<'ProjectIssueTaken'> | null
  readonly trigger: IssueTrigger
  readonly right: RepositoryRight
  /**
   * When the last earlier attempt that counts for labels failed to create a task, in ISO 8601; `null` when there was none. Labels that were set
   * before that do not count as requests.
   */
  readonly labelFailedAt: string | null
}

type EventContent<Type extends ProjectIssueEvent['type']> = Extract<
  ProjectIssueEvent,
  { type: Type }
>['content']

/** Since when the parts of the rule apply, in ISO 8601; `null` until the rule is switched on for the first time. Earlier requests do not count. */
export interface RuleSince {
  readonly on: string | null
  /** When the current label was chosen. */
  readonly label: string | null
  readonly mentions: string | null
}

export interface PassedOverIssue {
  readonly reason: IssuePass
  /** Whether the issue may become a task without further activity on it. */
  readonly isWaiting: boolean
  readonly words: EventContent<'ProjectIssuePassed'>
}

export interface ProjectIssues {
  readonly rule: IssueRule
  readonly since: RuleSince
  /** The accepted issues, by the code host's id of the issue. */
  readonly taken: ReadonlyMap<string, TakenIssue>
  /** Issues that did not become tasks, by the code host's id of the issue. `issueLimits.passedOver` says how many are kept. */
  readonly passedOver: ReadonlyMap<string, PassedOverIssue>
  /** The time up to which changed issues were read, by the code host's clock, in ISO 8601; `null` if none is recorded since the rule is on. */
  readonly readUpTo: string | null
  /** The code of the fault that prevents reading the issues; `null` while they can be read. */
  readonly unread: string | null
}

export const noIssues: ProjectIssues = {
  rule: defaultIssueRule,
  since: { on: null, label: null, mentions: null },
  taken: new Map(),
  passedOver: new Map(),
  readUpTo: null,
  unread: null,
}

/** A request to turn an issue into a task. Times are the code host's, in ISO 8601. */
export interface IssueRequest {
  readonly trigger: IssueTrigger
  readonly at: string
  readonly author: { readonly id: string; readonly login: string }
  readonly commentId: string | null
}

/** Whether a person may use this server. `signed_out`: the person has an account, but must sign in again before this can be determined. */
export type Standing = 'known' | 'signed_out' | 'unknown'

/** A request together with the permission and the account of its author. */
export interface JudgedRequest extends IssueRequest {
  readonly right: RepositoryRight
  /** Whether the author may use this server; `unasked` when this could not be determined now. */
  readonly standing: Standing | 'unasked'
  /** The SHA-256 of the text that the agent would read for this request. */
  readonly textHash: string
}

export type IssueCommand =
  /** Parts of the rule that are left out stay as they are. */
  | ({ readonly type: 'ChangeIssueRule' } & { readonly [Name in keyof IssueRule]?: IssueRule[Name] })
  | {
      readonly type: 'ConsiderIssue'
      readonly issue: EventContent<'ProjectIssuePassed'> & { readonly nodeId: string }
      readonly asks: readonly JudgedRequest[]
      /** Whether a request may be missing in `asks`, because the issue has too many events or comments. */
      readonly isCut: boolean
      /**
       * When somebody without write permission last edited the issue's title or text; `null` when nobody did. If the issue's author has no write
       * permission, edits by anybody count.
       */
      readonly editedAt: string | null
      readonly ownerMayWrite: boolean
      /** Whether another project of this repository takes the issue. */
      readonly isElsewhere: boolean
      readonly taskId: string
      /** The current time in the format of ISO 8601. */
      readonly now: string
    }
  | {
      readonly type: 'SettleIssue'
      readonly taskId: string
      readonly failure: IssueFailure | null
      readonly reason: string | null
    }
  /** The request for a waiting issue was withdrawn, or the issue no longer exists. */
  | { readonly type: 'WithdrawIssue'; readonly issueId: string }
  /** `upTo` is a time of the code host's clock, in ISO 8601. */
  | { readonly type: 'NoteIssuesRead'; readonly upTo: string }
  | { readonly type: 'NoteIssuesUnread'; readonly code: string; readonly reason: string }

const hourMs = 3_600_000
/** How far the code host's clock may be behind this server's, in milliseconds. */
const graceMs = 60_000

const onIssuesTypes: readonly string[] = [
  'ChangeIssueRule',
  'ConsiderIssue',
  'SettleIssue',
  'WithdrawIssue',
  'NoteIssuesRead',
  'NoteIssuesUnread',
] satisfies readonly IssueCommand['type'][]

export function isOnIssues<Command extends { readonly type: string }>(
  command: Command,
): command is Extract<Command, IssueCommand> {
  return onIssuesTypes.includes(command.type)
}

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
      const passed = issues.passedOver.get(command.issueId)
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

/**
 * The progress of reading issues is recorded once a day, and when issues can be read again after a fault, but not for every change. After a restart,
 * the changes of about one day are read again.
 */
const noteEveryMs = 24 * hourMs

function noteRead(issues: ProjectIssues, upTo: string): Decision<ProjectIssueEvent> {
  const from = readFrom(issues)
  if (from === null || !isNews(issues, upTo)) return []
  return [ProjectIssuesRead.of({}, { upTo: Date.parse(upTo) > Date.parse(from) ? upTo : from })]
}

/** Whether an event should record that changes up to `upTo` were read. */
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
 * Accepts an issue if somebody who may write to the repository and use this server requested it. If another condition is not met, such as a limit,
 * the reason is recorded. Requests by people who may not write are not recorded, so that they cannot fill the log.
 */
function considerIssue(issues: ProjectIssues, command: Consider): Decision<ProjectIssueEvent> {
  const { issue, asks, taskId } = command
  const { issueId } = issue
  if (!issues.rule.on || isTaken(issues, issueId)) return []
  const before = issues.taken.get(issueId)
  const isNew = ({ at, trigger }: JudgedRequest) => {
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
  // While it is unknown whether a requesting person may use this server, only limits are recorded. Any other reason may turn out to be wrong.
  const mayChange = permitted.some(({ standing }) => standing === 'unasked')
  if (mayChange && (reason === null || !isLimit(reason))) return []
  if (reason === null || issues.passedOver.get(issueId)?.reason === reason) return []
  const { nodeId: _nodeId, ...words } = issue
  return [ProjectIssuePassed.of({ reason }, words)]
}

/** The reason to record when no request counts; `null` to record nothing. */
function whyNobody(
  issues: ProjectIssues,
  { issue, isCut }: Consider,
  permitted: readonly JudgedRequest[],
): IssuePass | null {
  if (permitted.some(({ standing }) => standing === 'signed_out')) return 'sign_in'
  if (permitted.length > 0) return 'not_known'
  if (isCut) return 'unsure'
  return isWaiting(issues, issue.issueId) ? 'withdrawn' : null
}

function whyNot(issues: ProjectIssues, command: Consider, ask: JudgedRequest): IssuePass | null {
  const { editedAt, ownerMayWrite, isElsewhere, now } = command
  if (!ownerMayWrite) return 'owner'
  if (isElsewhere) return 'elsewhere'
  // The code host's times have a resolution of one second, so an edit within the same second counts as later.
  if (editedAt !== null && secondOf(editedAt) >= secondOf(ask.at)) return 'edited'
  return limitAt(issues, now)
}

/** Whether an issue is or becomes a task. An issue whose task could not be created may be accepted again. */
export function isTaken({ taken }: Pick<ProjectIssues, 'taken'>, issueId: string): boolean {
  const before = taken.get(issueId)
  return before !== undefined && before.failure === null
}

/** The limit that has been reached; `null` when another issue can be accepted. */
function limitAt({ taken }: ProjectIssues, now: string): 'hour' | 'day' | null {
  const within = (ms: number) =>
    [...taken.values()].filter(({ at }) => Date.parse(at) > Date.parse(now) - ms).length
  if (within(24 * hourMs) >= issueLimits.perDay) return 'day'
  return within(hourMs) >= issueLimits.perHour ? 'hour' : null
}

export const hasRoom = (issues: ProjectIssues, now: string): boolean => limitAt(issues, now) === null

const secondOf = (time: string): number => Math.floor(Date.parse(time) / 1_000)

export const mayWrite = (right: RepositoryRight): boolean => right === 'admin' || right === 'write'

/** Whether the request was made after the rule began to apply to its trigger, or at most `graceMs` before. */
export function isSince({ at, trigger }: Pick<IssueRequest, 'at' | 'trigger'>, since: RuleSince): boolean {
  const from = trigger === 'label' ? since.label : since.mentions
  return from !== null && Date.parse(at) >= Date.parse(from) - graceMs
}

/** The time minus `graceMs`. */
export const beforeGrace = (at: string): string => new Date(Date.parse(at) - graceMs).toISOString()

/** The time from which changed issues must be read; `null` when the rule was never on. Earlier changes were read already, or cannot matter. */
export function readFrom({ readUpTo, since }: Pick<ProjectIssues, 'readUpTo' | 'since'>): string | null {
  return readUpTo ?? (since.on === null ? null : beforeGrace(since.on))
}

/** The time since which mentions count, in ISO 8601; `null` when they do not count. */
export function mentionsFrom({ rule, since }: Pick<ProjectIssues, 'rule' | 'since'>): string | null {
  return rule.mentions && since.mentions !== null ? beforeGrace(since.mentions) : null
}

/** Whether the issue is not a task yet, but may still become a task without further activity on it. */
export const isWaiting = ({ passedOver }: Pick<ProjectIssues, 'passedOver'>, issueId: string): boolean =>
  passedOver.get(issueId)?.isWaiting === true

/** Whether an issue was accepted because of the rule's current label. */
export function isByLabel(
  { since }: ProjectIssues,
  { trigger, at }: Pick<TakenIssue, 'trigger' | 'at'>,
): boolean {
  return trigger === 'label' && since.label !== null && Date.parse(at) >= Date.parse(since.label)
}

/**
 * Whether the rule stopped covering an issue after accepting it: the rule was switched off, or the issue was requested by a mention and mentions were
 * switched off.
 */
export function isNoLongerCovered(
  { rule, since }: Pick<ProjectIssues, 'rule' | 'since'>,
  { at, trigger }: Pick<TakenIssue, 'at' | 'trigger'>,
): boolean {
  const isBefore = (from: string | null) => from === null || Date.parse(at) < Date.parse(from)
  if (!rule.on || isBefore(since.on)) return true
  return trigger === 'mention' && (!rule.mentions || isBefore(since.mentions))
}

/** Whether switched-off mentions are the only reason against a task. A label can still request the task. */
export const isUnwantedMention = (
  issues: Pick<ProjectIssues, 'rule' | 'since'>,
  { failure, trigger, at }: Pick<TakenIssue, 'failure' | 'trigger' | 'at'>,
): boolean =>
  failure === 'unwanted' && trigger === 'mention' && !isNoLongerCovered(issues, { at, trigger: 'label' })

/** When the last attempt that counts for this trigger failed to create a task; `null` if there is none. */
export const failedAtOf = (
  issues: Pick<ProjectIssues, 'rule' | 'since'>,
  taken: TakenIssue,
  trigger: IssueTrigger,
): string | null =>
  trigger === 'label' && isUnwantedMention(issues, taken) ? taken.labelFailedAt : taken.settledAt

function latestOf(asks: readonly JudgedRequest[]): JudgedRequest | undefined {
  return asks.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)).at(-1)
}

export function unsettledOf({ taken }: ProjectIssues): readonly TakenIssue[] {
  return [...taken.values()].filter(({ settledAt }) => settledAt === null)
}
