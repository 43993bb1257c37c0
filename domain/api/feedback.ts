/** Feedback on the pull request of a task: routes and a limit. */
import type { Routes } from './route.ts'

export const feedbackRoutes = {
  listFeedback: { method: 'GET', path: '/tasks/:taskId/feedback' },
  readFeedbackMessage: { method: 'GET', path: '/tasks/:taskId/feedback/:feedbackId/message' },
  sendFeedback: { method: 'POST', path: '/tasks/:taskId/feedback/:feedbackId/send' },
  dismissFeedback: { method: 'POST', path: '/tasks/:taskId/feedback/:feedbackId/dismiss' },
  restoreFeedback: { method: 'POST', path: '/tasks/:taskId/feedback/:feedbackId/restore' },
  resolveFeedback: { method: 'POST', path: '/tasks/:taskId/feedback/:feedbackId/resolve' },
  answerFeedback: { method: 'POST', path: '/tasks/:taskId/feedback/:feedbackId/answer' },
  setPullRequestDraft: { method: 'POST', path: '/tasks/:taskId/pr/draft' },
} as const satisfies Routes

/** The most pieces of feedback that one response lists. It lists the latest pieces. */
export const feedbackPage = 100
