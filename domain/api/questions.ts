/** Questions of an agent: routes. */
import type { Routes } from './route.ts'

export const questionRoutes = {
  listQuestions: { method: 'GET', path: '/tasks/:taskId/questions' },
  answerQuestion: { method: 'POST', path: '/tasks/:taskId/questions/:questionId/answer' },
} as const satisfies Routes

/** How many questions of a task a list contains at most: the latest. */
export const questionsPage = 500

/** The most characters that a person can write in an answer. */
export const answerLength = 20_000
