/** Reads one issue (who requests it, with what permission, and what it says) and lets the project decide. */
import { randomUUID } from 'node:crypto'
import { projectStream } from '#domain/kernel/streams.ts'
import {
  requestsOf,
  isSameLabel,
  isUnsure,
  type EditableComment,
  type LabelEvent,
} from '#domain/project/issueRequests.ts'
import { isLimit } from '#domain/project/issueRule.ts'
import {
  hasRoom,
  isByLabel,
  isTaken,
  isNoLongerCovered,
  isWaiting,
  mayWrite,
  mentionsFrom,
  unsettledOf,
  type IssueRequest,
  type JudgedRequest,
  type ProjectIssues,
  type TakenIssue,
} from '#domain/project/issues.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { RepositoryRight } from '#domain/task/codeHost/feedbackEvents.ts'
import type { ProjectDocument } from '#domain/views/projects.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Engines } from '#platform/compose.ts'
import { CodeHostFault, type CodeHost, type RepositoryName } from '#platform/ports/codeHost.ts'
import type { HostAuthor } from '#platform/ports/codeHostFeedback.ts'
import type {
  HostIssue,
  HostIssueComment,
  HostIssueEvent,
  HostIssueText,
} from '#platform/ports/codeHostIssues.ts'
import { userOf } from '../feedback/feedbackAuthors.ts'
import { redactionOf } from '../feedback/feedbackRedaction.ts'
import { hashOf, taskExists, createTask, settle, type IssueText, type CreateTaskDeps } from './createTask.ts'
import { mentionsOf, type Mentions } from './mentions.ts'
import { askRight, mayAnyWrite, standingNow, type RightsDeps } from './rights.ts'

export interface IssueReadingDeps
  extends CreateTaskDeps, RightsDeps, Pick<Engines, 'projectSecrets' | 'clock'> {
  readonly commands: CreateTaskDeps['commands']
  readonly codeHost: Pick<
    CodeHost,
    | 'issue'
    | 'issueText'
    | 'issueEvents'
    | 'issueComments'
    | 'issueComment'
    | 'repositoryRight'
    | 'mentionName'
  >
}

/** A project whose issues are read, and the data and functions that the reading needs. */
export interface ReadingOf {
  readonly document: ProjectDocument
  readonly issues: ProjectIssues
  readonly token: string
  /** The current name of the repository. */
  readonly repository: RepositoryName
  /** The App's name; `null` when there is none, or when mentions do not count. */
  readonly slug: string | null
  /** Whether the project's owner may write to the repository. Throws when that is unknown for now. */
  readonly ownerMayWrite: () => Promise<boolean>
  /** Whether the issue belongs to another project of this repository. */
  readonly isElsewhere: (issueId: string) => Promise<boolean>
  /** Whether another project of this repository has made a task of the issue. */
  readonly isMadeElsewhere: (issueId: string) => Promise<boolean>
}

/**
 * The outcome for an issue. `waits`: it waits until a limit allows it. `later`: its task can be made later. `passes`: it is passed over for a reason
 * that may go away. `unasked`: the accounts of the people who request its task could not be checked.
 */
export type Considered = 'done' | 'waits' | 'later' | 'passes' | 'unasked'

/** Reads an issue and records the project's decision. Throws CodeHostFault. */
export async function considerIssue(
  deps: IssueReadingDeps,
  of: ReadingOf,
  issue: HostIssue,
): Promise<Considered> {
  const { commands, clock } = deps
  const { document } = of
  const read = await readIssue(deps, of, issue)
  if (read === null) return withdraw(deps, of, issue.id)
  const { asks, canStart, editedAt, title, textFor } = await judge(deps, of, read)
  const taskId = randomUUID()
  const { id: issueId, nodeId, number, url } = issue
  const command = {
    type: 'ConsiderIssue',
    issue: { issueId, nodeId, number, title, url },
    asks,
    isCut: read.isUnsure,
    editedAt,
    // The owner's permission is looked up only if somebody with permission requests the issue.
    ownerMayWrite: canStart && (await of.ownerMayWrite()),
    isElsewhere: canStart && (await of.isElsewhere(issueId)),
    taskId,
    now: clock.now().toISOString(),
  } as const
  const { state } = await commands.execute(
    projectDecider,
    projectStream(document.id),
    command,
    bySystem('issues'),
  )
  if (state.kind !== 'project') return 'done'
  const taken = state.issues.taken.get(issueId)
  if (taken?.taskId === taskId)
    return createTask(deps, document, taken, textFor(taken.words?.commentId ?? null))
  return outcomeOf(state.issues, command)
}

function outcomeOf(
  issues: ProjectIssues,
  {
    issue: { issueId },
    asks,
    now,
  }: { issue: { issueId: string }; asks: readonly JudgedRequest[]; now: string },
): Considered {
  if (isTaken(issues, issueId)) return 'done'
  const reason = issues.passedOver.get(issueId)?.reason
  const isLimited = reason !== undefined && isLimit(reason)
  if (isLimited && !hasRoom(issues, now)) return 'waits'
  if (asks.some(({ standing }) => standing === 'unasked')) return 'unasked'
  if (isLimited) return 'waits'
  return isWaiting(issues, issueId) ? 'passes' : 'done'
}

/** Records that a waiting issue is no longer requested, or no longer exists. */
export async function withdraw(
  { commands }: Pick<IssueReadingDeps, 'commands'>,
  { document, issues }: Pick<ReadingOf, 'document' | 'issues'>,
  issueId: string,
): Promise<'done'> {
  if (!isWaiting(issues, issueId)) return 'done'
  const command = { type: 'WithdrawIssue', issueId } as const
  await commands.execute(projectDecider, projectStream(document.id), command, bySystem('issues'))
  return 'done'
}

/** An issue that somebody may have requested, as it was read. */
interface ReadIssue {
  readonly issue: HostIssue
  readonly said: HostIssueText
  /** Comments that mention the App, with their current text. */
  readonly comments: readonly EditableComment[]
  readonly events: readonly HostIssueEvent[]
  readonly asks: readonly IssueRequest[]
  /** Whether a person who requests the issue may be missing from what was read. */
  readonly isUnsure: boolean
}

/** Reads the text, comments and events of an issue. Returns `null` for a closed issue or a pull request, and when nobody requests the issue. */
async function readIssue(deps: IssueReadingDeps, of: ReadingOf, issue: HostIssue): Promise<ReadIssue | null> {
  const { codeHost } = deps
  const { issues, token, repository, slug } = of
  const isLabelled = hasLabel(issue, issues.rule.label)
  if (issue.isPullRequest || (!isLabelled && slug === null)) return null
  const { comments: named, leftOut } = await mentionsOn(deps, of, issue)
  const said = await codeHost.issueText(
    token,
    issue.nodeId,
    named.map(({ nodeId }) => nodeId),
  )
  if (!said.isOpen) return null
  const comments = named.flatMap((one) => {
    const text = said.comments.get(one.nodeId)
    return text === undefined ? [] : [{ ...one, ...text }]
  })
  const mentions = requestsOf(askingOf(issue, said, comments, []), { ...issues, slug })
  // The events are read after the text, so that a change of the title in between is among them.
  const events =
    isLabelled || mentions.length > 0
      ? await codeHost.issueEvents(token, repository, issue.number)
      : { events: [], isCut: false }
  const asking = askingOf(issue, said, comments, events.events)
  const asks = requestsOf(asking, { ...issues, slug })
  // Anybody can write so many comments that some are left out. They matter only if the issue was waiting, or if one of their authors may write to the
  // repository.
  const isUnclear =
    isUnsure(asking, events.isCut, issues.rule.label) ||
    (leftOut.isAnybody && isWaiting(issues, issue.id)) ||
    (await mayAnyWrite(deps, of, leftOut.known.slice(0, maxLeftOut)))
  if (asks.length === 0 && !isUnclear) return null
  return { issue, said, comments, events: events.events, asks, isUnsure: isUnclear }
}

/** The maximum number of authors of left-out comments whose permission is checked. Authors without an account on this server are not checked. */
const maxLeftOut = 10

/** The comments on `issue` that may request a task for it. */
async function mentionsOn(
  deps: IssueReadingDeps,
  { issues, token, repository, slug }: ReadingOf,
  issue: HostIssue,
): Promise<Mentions<HostIssueComment>> {
  const since = mentionsFrom(issues)
  if (slug === null || since === null || issue.comments === 0)
    return { comments: [], leftOut: { known: [], isAnybody: false } }
  const listed = await deps.codeHost.issueComments(token, repository, issue.number, since)
  const isHere = async (id: string) => (await userOf(deps, id)) !== null
  const mentions = await mentionsOf(listed.comments, slug, isHere)
  return listed.isCut ? { ...mentions, leftOut: { ...mentions.leftOut, isAnybody: true } } : mentions
}

const hasLabel = ({ labels }: Pick<HostIssue, 'labels'>, label: string): boolean =>
  labels.some((name) => isSameLabel(name, label))

function askingOf(
  issue: HostIssue,
  said: HostIssueText,
  comments: readonly EditableComment[],
  events: readonly HostIssueEvent[],
) {
  const { author, isByOurApp, createdAt, labels } = issue
  return {
    issue: { author, isByOurApp, createdAt, labels, body: said.body, edit: said.edit },
    labelEvents: events.flatMap(({ kind, label, at, actor: by, isByOurApp: isOur }): readonly LabelEvent[] =>
      kind === 'renamed' || label === null
        ? []
        : [{ label, isSet: kind === 'labeled', at, actor: by, isByOurApp: isOur }],
    ),
    comments,
  }
}

interface Judged {
  readonly asks: readonly JudgedRequest[]
  /** Whether anybody who requests the issue may write to the repository and uses this server. */
  readonly canStart: boolean
  readonly editedAt: string | null
  readonly title: string
  textFor(commentId: string | null): IssueText
}

/** Checks, without cached answers, what the people who request a task for the issue may do. Removes secrets from their texts. */
async function judge(deps: IssueReadingDeps, of: ReadingOf, read: ReadIssue): Promise<Judged> {
  const { said, comments, asks } = read
  const rights = new Map<string, RepositoryRight>()
  const rightOf = async (account: Pick<HostAuthor, 'id' | 'login'>) => {
    const right = rights.get(account.id) ?? (await askRight(deps, of, account))
    rights.set(account.id, right)
    return right
  }
  const { textFor, title } = await wordsOf(deps, of, said, comments)
  const judged: JudgedRequest[] = []
  for (const ask of asks) {
    const right = await rightOf(ask.author)
    const standing = await standingNow(deps, right, ask.author.id)
    judged.push({ ...ask, right, standing, textHash: hashOf(textFor(ask.commentId)) })
  }
  const canStart = judged.some(({ standing }) => standing === 'known')
  const editedAt = canStart ? await lastStrangeEdit(read, rightOf) : null
  return { asks: judged, canStart, editedAt, title, textFor }
}

/** How many changes are checked one by one, since each may need a request. */
const maxEdits = 20

/**
 * When somebody without write permission last changed the text or the title. If the author has no write permission, any change counts: a later change
 * by somebody else does not show what the author changed before.
 */
async function lastStrangeEdit(
  { issue, said, events }: ReadIssue,
  rightOf: (account: HostAuthor) => Promise<RepositoryRight>,
): Promise<string | null> {
  const edits = [
    ...(said.edit === null ? [] : [said.edit]),
    ...events.filter(({ kind }) => kind === 'renamed').map(({ at, actor: by }) => ({ at, by })),
  ].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at))
  const mayAgree = issue.author !== null && edits.length > 0 && mayWrite(await rightOf(issue.author))
  for (const [count, { at, by }] of edits.entries()) {
    const isOwn = mayAgree && count < maxEdits && by !== null && !by.isBot && mayWrite(await rightOf(by))
    if (!isOwn) return at
  }
  return null
}

type Said = Pick<EditableComment, 'id' | 'body'>

async function wordsOf(
  deps: IssueReadingDeps,
  { document }: Pick<ReadingOf, 'document'>,
  said: Pick<HostIssueText, 'title' | 'body' | 'author'>,
  comments: readonly Said[],
) {
  const redaction = await redactionOf(deps, document.id)
  const title = redaction.text(said.title)
  const body = redaction.text(said.body)
  const textFor = (commentId: string | null): IssueText => {
    const comment = comments.find(({ id }) => id === commentId)
    return { title, body, author: said.author, comment: comment ? redaction.text(comment.body) : null }
  }
  return { title, textFor }
}

/**
 * Continues with an accepted issue that has no outcome yet, because of a crash or because the project's owner had too many tasks. Checks all
 * permissions again. Returns `full` when the owner still has too many tasks, and `unasked` when the account of the person who requested the issue
 * cannot be checked. Throws CodeHostFault.
 */
export async function resumeIssue(
  deps: IssueReadingDeps,
  of: ReadingOf,
  taken: TakenIssue,
): Promise<'done' | 'unasked' | 'full'> {
  const { codeHost } = deps
  const { document, issues, token, repository } = of
  const { taskId, words } = taken
  if (await taskExists(deps, taskId)) return settle(deps, document.id, taskId, null)
  if (words === null) return 'done'
  try {
    const issue = await codeHost.issue(token, repository, words.number)
    // The number of an issue that was moved redirects to another issue.
    if (issue.id !== words.issueId) return await settle(deps, document.id, taskId, 'gone')
    if (isByLabel(issues, taken) && !hasLabel(issue, issues.rule.label))
      return await settle(deps, document.id, taskId, 'unlabelled')
    const said = await codeHost.issueText(token, words.nodeId, [])
    if (!said.isOpen) return await settle(deps, document.id, taskId, 'closed')
    const right = await askRight(deps, of, words.author)
    const standing = await standingNow(deps, right, words.author.id)
    // The account of a person who has to sign in again cannot be checked either.
    if (standing === 'signed_out' || standing === 'unasked') return 'unasked'
    if (standing === 'unknown' || !(await of.ownerMayWrite()))
      return await settle(deps, document.id, taskId, 'not_permitted')
    if (await of.isMadeElsewhere(words.issueId))
      return await settle(deps, document.id, taskId, 'refused', 'Another project has made a task of it.')
    const comments =
      words.commentId === null ? [] : [await codeHost.issueComment(token, repository, words.commentId)]
    const { textFor } = await wordsOf(deps, of, said, comments)
    const outcome = await createTask(deps, document, taken, textFor(words.commentId))
    return outcome === 'later' ? 'full' : 'done'
  } catch (fault) {
    if (!(fault instanceof CodeHostFault) || fault.kind !== 'not_found') throw fault
    return settle(deps, document.id, taskId, 'gone')
  }
}

/** After a project's rule was switched off: records an outcome for accepted issues that still wait. Returns whether there were any. */
export async function settleUnwanted(
  deps: CreateTaskDeps,
  projectId: string,
  issues: ProjectIssues,
): Promise<boolean> {
  const unwanted = unsettledOf(issues).filter((taken) => isNoLongerCovered(issues, taken))
  for (const { taskId } of unwanted)
    await settle(deps, projectId, taskId, (await taskExists(deps, taskId)) ? null : 'unwanted')
  return unwanted.length > 0
}
