/** A command that counts, and what can be seen of its output. */
import { getChat } from '#domain/api/chat.schema.ts'
import type { Live } from '../product/live.ts'
import type { Person } from '../product/person.ts'

const lines = 30
export const counted = Array.from({ length: lines }, (_, n) => `line ${n + 1}`)

/** Prints 30 lines, with a pause after each. */
export function counting(pauseSeconds: number): string {
  return `for n in $(seq ${lines}); do echo "line $n"; sleep ${pauseSeconds}; done`
}

/** The counted lines in the output. */
export function linesOf(output: readonly { readonly content: string }[]): readonly string[] {
  const text = output.map(({ content }) => content).join('')
  return text.split('\n').filter((line) => /^line \d+$/.test(line))
}

/** The counted lines that a viewer received. */
export const printedBy = (live: Live): readonly string[] =>
  linesOf(live.of('command_output').map(({ output }) => ({ content: output })))

/** Every message of the task, oldest first. */
export async function saidBy(person: Person, taskId: string): Promise<readonly (string | null)[]> {
  const { messages } = await person.ask(getChat, { params: { taskId } })
  return messages.map(({ message }) => message)
}
