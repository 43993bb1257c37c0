/** The entry point of the chunk that a task page loads when its agent asks. */
export { OpenQuestions } from './OpenQuestions.tsx'
export { QuestionCard } from './QuestionCard.tsx'
