/** The entry point of the chunk that a task page loads when it shows a question of the agent. */
export { OpenQuestions } from './OpenQuestions.tsx'
export { QuestionCard } from './QuestionCard.tsx'
