/** Finds the command or mention that a person is typing, so that suggestions can be offered for it. */

/** A command that is being typed, or a file or subagent after an `@`. `from` is the index of its first character, the slash or the `@`. */
export interface Typing {
  readonly kind: 'command' | 'mention'
  readonly from: number
  readonly to: number
  readonly typed: string
}

/** The command or mention at the caret; `null` when the caret is in plain words. */
export function typingAt(text: string, caret: number): Typing | null {
  const command = /^\/([\p{L}\p{N}_:.-]*)$/u.exec(text)
  if (command !== null) return { kind: 'command', from: 0, to: text.length, typed: command[1] ?? '' }
  const before = text.slice(0, caret)
  const mention = /(?:^|\s)@([^\s@"]*)$/.exec(before)
  if (mention === null) return null
  const typed = mention[1] ?? ''
  return { kind: 'mention', from: caret - typed.length - 1, to: caret, typed }
}
