/** Turns of a scripted model that does more than answer: it plans, delegates, and looks at pictures. */
import type { Turn } from './messagesApi.ts'

type Tool = NonNullable<Turn['tools']>[number]

export const bash = (command: string): Tool => ({ name: 'Bash', input: { command, description: 'Do it' } })
export const plan = (subject: string): Tool => ({
  name: 'TaskCreate',
  input: { subject, description: `${subject} it.` },
})
export const planned = (taskId: string, status: 'in_progress' | 'completed'): Tool => ({
  name: 'TaskUpdate',
  input: { taskId, status },
})

/** Turns in which the agent lets a sub-agent look around, and reports the result. */
export const delegating: readonly Turn[] = [
  {
    tools: [
      {
        name: 'Agent',
        input: { subagent_type: 'general-purpose', description: 'Look', prompt: 'Look around' },
      },
    ],
  },
  { text: 'It was looked at.' },
]

/** Turns in which the agent makes a file of these bytes, and reads it. */
export const lookingAt = (path: string, bytes: Buffer): readonly Turn[] => [
  { tools: [bash(`echo ${bytes.toString('base64')} | base64 -d > ${path}`)] },
  { tools: [{ name: 'Read', input: { file_path: path } }] },
]
