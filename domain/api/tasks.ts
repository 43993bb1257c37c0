/** Tasks: routes, statuses and titles. */
import type { Routes } from './route.ts'

export const taskRoutes = {
  listTasks: { method: 'GET', path: '/tasks' },
  getTask: { method: 'GET', path: '/tasks/:taskId' },
  createTask: { method: 'POST', path: '/tasks' },
  updateTask: { method: 'PUT', path: '/tasks/:taskId' },
  deleteTask: { method: 'DELETE', path: '/tasks/:taskId' },
  retryTask: { method: 'POST', path: '/tasks/:taskId/retry' },
  executeTask: { method: 'POST', path: '/tasks/:taskId/execute' },
  cancelTask: { method: 'POST', path: '/tasks/:taskId/cancel' },
  getTaskDiff: { method: 'GET', path: '/tasks/:taskId/git/diff' },
  getFileLines: { method: 'GET', path: '/tasks/:taskId/git/file' },
  getPullRequest: { method: 'GET', path: '/tasks/:taskId/pr' },
  createPullRequest: { method: 'POST', path: '/tasks/:taskId/pr' },
  prepareTask: { method: 'POST', path: '/projects/:projectId/prepare' },
} as const satisfies Routes

export const taskStatuses = ['pending', 'queued', 'running', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof taskStatuses)[number]

export const pullRequestStates = ['open', 'draft', 'closed', 'merged'] as const
export type PullRequestState = (typeof pullRequestStates)[number]

/** Steps of an execution in order, up to the start of the agent. */
export const executionSteps = ['queued', 'cloning', 'setup', 'agent_started'] as const

/** The most lines in one answer of `getFileLines`. */
export const mostFileLines = 500

/** The maximum length of a title, in characters. */
export const titleLength = 100

/** A title made from a text: the text's first line, cut to 100 characters; `''` for a blank text. */
export function titleOf(description: string): string {
  // Cut by code points, so that no emoji is split.
  return [...(description.trim().split('\n')[0] ?? '').trim()].slice(0, titleLength).join('')
}
