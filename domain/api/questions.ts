/** Questions of an agent: routes. */
import type { Routes } from './route.ts'

export const questionRoutes = {
  listQuestions: { method: 'GET', path: '/tasks/:taskId/questions' },
  answerQuestion: { method: 'POST', path: '/tasks/:taskId/questions/:questionId/answer' },
} as const satisfies Routes

/** How many questions of a task are shown at most; these are the latest. */
export const questionsPage = 500

/** The maximum length of what a person writes in an answer, in characters. */
export const answerLength = 20_000
