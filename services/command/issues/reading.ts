/** Reads one issue: who asks for it, with what right, and what it says; and has the project decide. */
import { randomUUID } from 'node:crypto'
import { projectStream } from '#domain/kernel/streams.ts'
import { asksOf, type LabelEvent } from '#domain/project/issueAsks.ts'
import type { IssueAsk, JudgedAsk, ProjectIssues, TakenIssue } from '#domain/project/issues.ts'
import { project } from '#domain/project/project.ts'
import type { RepositoryRight } from '#domain/task/feedbackEvents.ts'
import type { ProjectDocument } from '#domain/views/projects.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { ProjectSecrets } from '#platform/credentials/projectSecrets.ts'
import type { Logger } from '#platform/log.ts'
import { CodeHostFault, type CodeHost, type RepositoryName } from '#platform/ports/codeHost.ts'
import type { HostAuthor, HostComment } from '#platform/ports/codeHostFeedback.ts'
import type { HostIssue, HostIssueEvent, HostIssueText } from '#platform/ports/codeHostIssues.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { isOurs } from '../follow/feedbackAuthors.ts'
import { redactionOf } from '../follow/feedbackRedaction.ts'
import { hashOf, isMade, makeTask, settle, type IssueText, type MakingDeps } from './making.ts'

export interface IssueReadingDeps extends MakingDeps {
  readonly codeHost: Pick<
    CodeHost,
    'issueText' | 'issueEvents' | 'issueComments' | 'repositoryRight' | 'mentionName'
  >
  readonly projectSecrets: Pick<ProjectSecrets, 'valuesOf'>
  readonly accessControl: Pick<AccessControl, 'check'>
  readonly vault: Pick<Vault, 'deriveKey'>
  /** The code host whose accounts these are. */
  readonly codeHostName: string
  readonly clock: Clock
  readonly logger: Logger
}

/** A project whose issues are read. */
export interface ReadingOf {
  readonly document: ProjectDocument
  readonly issues: ProjectIssues
  readonly token: string
  /** As it is named now. */
  readonly repository: RepositoryName
  /** The App's name; `null` where there is none, or mentions do not count. */
  readonly slug: string | null
  /** Whether another project of this repository takes the issue. */
  readonly isElsewhere: (issueId: string) => Promise<boolean>
}

const actor = { kind: 'system', service: 'issues' } as const

/** `waits` while a limit keeps it from being a task, `later` where its task could not be made yet. Throws CodeHostFault. */
export async function considerIssue(
  deps: IssueReadingDeps,
  of: ReadingOf,
  issue: HostIssue,
): Promise<'done' | 'waits' | 'later'> {
  const { codeHost, commands, clock } = deps
  const { document, issues, token, repository, slug } = of
  const hasLabel = issue.labels.some((name) => name.toLowerCase() === issues.rule.label.toLowerCase())
  if (issue.isPullRequest || (!hasLabel && slug === null)) return 'done'
  const said = await codeHost.issueText(token, issue.nodeId)
  if (!said.isOpen) return 'done'
  const comments =
    slug === null || issue.comments === 0 ? [] : await codeHost.issueComments(token, repository, issue.number)
  const events = hasLabel || slug !== null ? await eventsOf(deps, of, issue, said, comments) : []
  const asks = asksOf(askingOf(issue, said, comments, events), { ...issues, slug })
  if (asks.length === 0) return 'done'
  const judged = await judge(deps, of, { issue, said, comments, asks })
  const taskId = randomUUID()
  const command = {
    type: 'ConsiderIssue',
    issue: {
      issueId: issue.id,
      nodeId: issue.nodeId,
      number: issue.number,
      title: judged.text.title,
      url: issue.url,
    },
    asks: judged.asks,
    editedAt: editedAt(said, events),
    authorMayWrite: judged.authorMayWrite,
    isElsewhere: await of.isElsewhere(issue.id),
    taskId,
    now: clock.now().toISOString(),
  } as const
  const cause = { actor, commandId: randomUUID() }
  const { state } = await commands.execute(project, projectStream(document.id), command, cause)
  if (state.kind !== 'project') return 'done'
  const taken = state.issues.taken.get(issue.id)
  if (taken?.taskId === taskId)
    return makeTask(deps, document, taken, judged.textFor(taken.words?.commentId ?? null))
  const passed = state.issues.passed.get(issue.id)
  return passed === 'hour' || passed === 'day' ? 'waits' : 'done'
}

/** What happened to its labels and its title, where that can matter. */
async function eventsOf(
  { codeHost }: IssueReadingDeps,
  { issues, token, repository, slug }: ReadingOf,
  issue: HostIssue,
  said: HostIssueText,
  comments: readonly HostComment[],
): Promise<readonly HostIssueEvent[]> {
  const hasLabel = issue.labels.some((name) => name.toLowerCase() === issues.rule.label.toLowerCase())
  const mentioned = asksOf(askingOf(issue, said, comments, []), { ...issues, slug })
  return hasLabel || mentioned.length > 0 ? codeHost.issueEvents(token, repository, issue.number) : []
}

function askingOf(
  issue: HostIssue,
  said: HostIssueText,
  comments: readonly HostComment[],
  events: readonly HostIssueEvent[],
) {
  const { author, isByOurApp, createdAt, labels } = issue
  return {
    issue: { author, isByOurApp, createdAt, labels, body: said.body, editedAt: said.editedAt },
    labelEvents: events.flatMap(({ kind, label, at, actor: by, isByOurApp: isOur }): readonly LabelEvent[] =>
      kind === 'renamed' || label === null
        ? []
        : [{ label, isSet: kind === 'labeled', at, actor: by, isByOurApp: isOur }],
    ),
    comments,
  }
}

/** When the text or the title was changed last. */
function editedAt(said: HostIssueText, events: readonly HostIssueEvent[]): string | null {
  const times = [
    ...(said.editedAt === null ? [] : [said.editedAt]),
    ...events.filter(({ kind }) => kind === 'renamed').map(({ at }) => at),
  ]
  return times.toSorted((one, other) => Date.parse(one) - Date.parse(other)).at(-1) ?? null
}

interface Judged {
  readonly asks: readonly JudgedAsk[]
  readonly authorMayWrite: boolean
  readonly text: Pick<IssueText, 'title' | 'body'>
  textFor(commentId: string | null): IssueText
}

/** Asks what those who ask may do, in this very reading, and takes secrets out of what they wrote. */
async function judge(
  deps: IssueReadingDeps,
  of: ReadingOf,
  read: {
    readonly issue: HostIssue
    readonly said: HostIssueText
    readonly comments: readonly HostComment[]
    readonly asks: readonly IssueAsk[]
  },
): Promise<Judged> {
  const { issue, said, comments, asks } = read
  const rights = new Map<string, RepositoryRight>()
  const rightOf = async (account: Pick<HostAuthor, 'id' | 'login'>) => {
    const right = rights.get(account.id) ?? (await askRight(deps, of, account))
    rights.set(account.id, right)
    return right
  }
  const { textFor, text } = await wordsOf(deps, of, said, comments)
  const judged: JudgedAsk[] = []
  for (const ask of asks) {
    const right = await rightOf(ask.author)
    // Nobody else is asked about here.
    const isKnown = mayWrite(right) && (await isOurs(deps, ask.author.id))
    judged.push({ ...ask, right, isKnown, textHash: hashOf(textFor(ask.commentId)) })
  }
  const canStart = judged.some(({ isKnown }) => isKnown)
  const authorMayWrite = canStart && issue.author !== null && mayWrite(await rightOf(issue.author))
  return { asks: judged, authorMayWrite, text, textFor }
}

const mayWrite = (right: RepositoryRight): boolean => right === 'admin' || right === 'write'

/** What passes: the same question has another answer later. */
const passing: readonly CodeHostFault['kind'][] = ['rate_limited', 'unavailable', 'unauthorized']

/** `none` where the host does not tell. Throws where it cannot be asked for now. */
async function askRight(
  { codeHost, logger }: IssueReadingDeps,
  { token, repository, document }: ReadingOf,
  account: Pick<HostAuthor, 'id' | 'login'>,
): Promise<RepositoryRight> {
  try {
    return await codeHost.repositoryRight(token, repository, account)
  } catch (fault) {
    if (!(fault instanceof CodeHostFault) || passing.includes(fault.kind)) throw fault
    logger.warn({ err: fault, projectId: document.id }, 'failed to read what somebody may do in a repository')
    return 'none'
  }
}

async function wordsOf(
  deps: IssueReadingDeps,
  { document }: Pick<ReadingOf, 'document'>,
  said: HostIssueText,
  comments: readonly HostComment[],
) {
  const redaction = await redactionOf(deps, document.id)
  const text = { title: redaction.text(said.title), body: redaction.text(said.body) }
  const textFor = (commentId: string | null): IssueText => {
    const comment = comments.find(({ id }) => id === commentId)
    return { ...text, author: said.author, comment: comment ? redaction.text(comment.body) : null }
  }
  return { text, textFor }
}

/** Goes on with an issue that was taken and not settled, after a crash or while its owner had too many tasks. Throws CodeHostFault. */
export async function resumeIssue(
  deps: IssueReadingDeps,
  of: ReadingOf,
  taken: TakenIssue,
): Promise<'done' | 'later'> {
  const { codeHost } = deps
  const { document, token, repository } = of
  const { taskId, words } = taken
  if (await isMade(deps, taskId)) return settle(deps, document.id, taskId, null)
  if (words === null) return 'done'
  try {
    const said = await codeHost.issueText(token, words.nodeId)
    if (!said.isOpen) return await settle(deps, document.id, taskId, 'closed')
    const comments =
      words.commentId === null ? [] : await codeHost.issueComments(token, repository, words.number)
    const { textFor } = await wordsOf(deps, of, said, comments)
    return await makeTask(deps, document, taken, textFor(words.commentId))
  } catch (fault) {
    if (!(fault instanceof CodeHostFault) || fault.kind !== 'not_found') throw fault
    return settle(deps, document.id, taskId, 'closed')
  }
}
