/** The entry point of the chunk that a task page loads when its agent asks a question. */
export { OpenQuestions } from './OpenQuestions.tsx'
export { QuestionCard } from './QuestionCard.tsx'
