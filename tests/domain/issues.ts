/** A project that makes tasks from issues, and the requests for them. */
import {
  ProjectCreated,
  ProjectIssuePassed,
  ProjectIssueRuleChanged,
  ProjectIssueTaken,
  type ProjectEvent,
} from '#domain/project/events.ts'
import type { IssuePass } from '#domain/project/issueRule.ts'
import type { IssueCommand, JudgedRequest } from '#domain/project/issues.ts'
import { projectId, taskId, userId } from './ids.ts'
import { moment } from './recorded.ts'

export const created = ProjectCreated.of(
  { projectId: projectId(1), ownerId: userId(1), isPrivate: true },
  {
    githubUrl: 'https://code.example/ada/hello',
    githubOwner: 'ada',
    githubRepoName: 'hello',
    defaultBranch: 'main',
    language: null,
    githubRepoId: '7',
    name: 'hello',
    description: '',
  },
)
export const on = ProjectIssueRuleChanged.of({ on: true, mentions: true }, { label: 'flightdeck' })
/** The time this many seconds after the rule was set. */
export const at = (seconds: number) => new Date(Date.parse(moment) + seconds * 1_000).toISOString()
const grace = { id: '9', login: 'grace' }
export const asked: JudgedRequest = {
  trigger: 'label',
  at: at(10),
  author: grace,
  commentId: null,
  right: 'write',
  standing: 'known',
  textHash: 'h',
}

export type Consider = Extract<IssueCommand, { type: 'ConsiderIssue' }>
const words = (n: number) => ({
  issueId: `${n}`,
  number: n,
  title: `Issue ${n}`,
  url: `https://code.example/ada/hello/issues/${n}`,
})
export const consider = (change: Partial<Consider> = {}, n = 1): Consider => ({
  type: 'ConsiderIssue',
  issue: { ...words(n), nodeId: `I_${n}` },
  asks: [asked],
  isCut: false,
  editedAt: null,
  ownerMayWrite: true,
  isElsewhere: false,
  taskId: taskId(n),
  now: at(20),
  ...change,
})
export const taken = (n = 1, of: JudgedRequest = asked) =>
  ProjectIssueTaken.of(
    { taskId: taskId(n), trigger: of.trigger, right: of.right },
    { ...words(n), nodeId: `I_${n}`, author: of.author, commentId: of.commentId, textHash: of.textHash },
  )
export const passed = (reason: IssuePass, n = 1) => ProjectIssuePassed.of({ reason }, words(n))
export const ruled: readonly ProjectEvent[] = [created, on]
