/** The server's answers for tests of the client: complete objects, which a test can change in part. */
import type { AgentState } from '#domain/api/server.schema.ts'
import type { User } from '#domain/api/auth.schema.ts'
import type { ChatMessage } from '#domain/api/chat.schema.ts'
import type { ShownQuestion } from '#domain/api/questions.schema.ts'
import type { Project, Repository } from '#domain/api/projects.schema.ts'
import type { ShownSettings } from '#domain/api/projectSettings.schema.ts'
import type { ChangedFile, GitDiff, Task } from '#domain/api/tasks.schema.ts'
import { executionId, messageId, projectId, questionId, taskId, userId } from '../domain/ids.ts'
import { moment } from '../domain/recorded.ts'

export const ada: User = {
  id: userId(1),
  name: 'Ada Lovelace',
  fullName: 'Ada Lovelace',
  email: 'ada@example.com',
  avatar: null,
  onboardingCompleted: true,
  githubConnected: true,
  githubId: '42',
  githubUsername: 'ada',
}

const models = [
  { name: 'opus', label: 'Opus' },
  { name: 'sonnet', label: 'Sonnet' },
]

/** One agent that can run, and one that cannot. */
export const agentStates: readonly AgentState[] = [
  { name: 'claude', installed: true, version: '2.1.329', missing: null, keyInSandbox: false, models },
  {
    name: 'cursor',
    installed: false,
    version: null,
    missing: 'It is not installed.',
    keyInSandbox: true,
    models: [],
  },
]

export function projectOf(n: number, over: Partial<Project> = {}): Project {
  return {
    id: projectId(n),
    name: `engine-${n}`,
    description: 'It computes.',
    status: 'active',
    statusReason: null,
    isPrivate: false,
    language: 'Go',
    githubUrl: `https://code.example/ada/engine-${n}`,
    githubOwner: 'ada',
    githubRepoName: `engine-${n}`,
    defaultBranch: 'trunk',
    lastSync: moment,
    createdAt: moment,
    isOrganization: false,
    stats: { totalTasks: 0, completedTasks: 0, runningTasks: 0, runningTitles: [] },
    position: String(n),
    ...over,
  }
}

/** The settings of a project for which nobody has set anything. */
export const unsetSettings: ShownSettings = {
  setupCommand: '',
  variables: [],
  egress: [],
  modelFetches: false,
  allowedFilters: [],
  draftPullRequests: false,
  submodules: [],
  allowedHooks: null,
  services: [],
  secrets: [],
  modelKeys: [],
  feedback: { reviews: 'ask', checks: 'ask', triesPerCommit: 1, triesPerDay: 5, resolves: false },
  issues: { on: false, label: 'flightdeck', mentions: true },
  issuesUnread: null,
  issueDecisions: [],
}

export function taskOf(n: number, over: Partial<Task> = {}): Task {
  return {
    id: taskId(n),
    title: `Task ${n}`,
    description: `Task ${n}`,
    status: 'completed',
    progress: 100,
    agent: 'claude',
    projectId: projectId(1),
    project: { id: projectId(1), name: 'engine-1', githubRepoName: 'engine-1', githubOwner: 'ada' },
    branch: 'trunk',
    codexModel: 'o4-mini',
    modelAgent: 'claude',
    mode: 'free',
    waitingFor: null,
    images: [],
    workingBranch: `flightdeck/task-${n}`,
    currentBranch: null,
    prUrl: null,
    prNumber: null,
    owner: userId(1),
    createdAt: moment,
    updatedAt: moment,
    execution: null,
    failure: null,
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, model: null },
    changes: null,
    pullRequestPending: false,
    position: String(n),
    version: 1,
    ...over,
  }
}

export function repositoryOf(name: string, over: Partial<Repository> = {}): Repository {
  return {
    id: name,
    name,
    full_name: `ada/${name}`,
    description: null,
    private: false,
    html_url: `https://code.example/ada/${name}`,
    ...over,
  }
}

export function fileOf(fileName: string, over: Partial<ChangedFile> = {}): ChangedFile {
  const diff = `--- a/${fileName}\n+++ b/${fileName}\n@@ -1,2 +1,2 @@\n same\n-before\n+after\n`
  return { fileName, status: 'modified', additions: 1, deletions: 1, binary: false, diff, ...over }
}

export function diffOf(over: Partial<GitDiff> = {}): GitDiff {
  const changedFiles = over.changedFiles ?? []
  return {
    status: 'ready',
    changedFiles,
    totalChanges: changedFiles.length,
    currentBranch: 'flightdeck/task-1',
    exists: true,
    commitComparison: { ahead: 2, behind: 1 },
    baseBranch: 'trunk',
    truncated: false,
    tree: 'd'.repeat(40),
    version: 1,
    ...over,
  }
}

export function messageOf(n: number, over: Partial<ChatMessage> = {}): ChatMessage {
  return {
    id: messageId(n),
    task: taskId(1),
    project: projectId(1),
    owner: userId(1),
    message: `message ${n}`,
    messageType: 'user',
    isCommand: false,
    commandText: null,
    images: [],
    attachments: [],
    isVisible: true,
    isEdited: false,
    commandStatus: 'pending',
    response: null,
    agent: 'claude',
    createdAt: moment,
    updatedAt: moment,
    status: 'completed',
    executionId: null,
    queueIndex: null,
    position: String(n),
    version: 1,
    ...over,
  }
}

/** A question by the agent of the first task, asked in its first turn. */
export function questionOf(n: number, over: Partial<ShownQuestion> = {}): ShownQuestion {
  return {
    id: questionId(n),
    executionId: executionId(1),
    kind: 'question',
    status: 'open',
    title: `Question ${n}?`,
    body: '',
    options: ['Red', 'Blue'].map((label) => optionOf(label)),
    fields: [],
    rules: [],
    allowsText: true,
    multiple: false,
    askedAt: moment,
    answer: null,
    answeredAt: null,
    answeredBy: null,
    delivery: null,
    isDelivered: false,
    position: String(100 + n),
    version: n,
    ...over,
  }
}

export function optionOf(label: string, over: Partial<ShownQuestion['options'][number]> = {}) {
  return { value: label.toLowerCase(), label, description: `It is ${label}.`, preview: null, ...over }
}
