/** Questions of an agent: routes and limits. */
import type { Routes } from './route.ts'

export const questionRoutes = {
  listQuestions: { method: 'GET', path: '/tasks/:taskId/questions' },
  answerQuestion: { method: 'POST', path: '/tasks/:taskId/questions/:questionId/answer' },
} as const satisfies Routes

/** The most questions in a list. A list has the latest questions of a task. */
export const questionsPage = 500

/** The most characters of an answer's text, and of each value of a form. */
export const answerLength = 20_000
