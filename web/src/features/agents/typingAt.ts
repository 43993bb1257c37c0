/** What a person is typing that something can be offered for. */

/** What is being typed: a command, or after an `@` a file or subagent. `from`: where it begins, with its mark. */
export interface Typing {
  readonly kind: 'command' | 'mention'
  readonly from: number
  readonly to: number
  readonly typed: string
}

/** What is being typed at the caret; `null` for plain words. */
export function typingAt(text: string, caret: number): Typing | null {
  const command = /^\/([\p{L}\p{N}_:.-]*)$/u.exec(text)
  if (command !== null) return { kind: 'command', from: 0, to: text.length, typed: command[1] ?? '' }
  const before = text.slice(0, caret)
  const mention = /(?:^|\s)@([^\s@"]*)$/.exec(before)
  if (mention === null) return null
  const typed = mention[1] ?? ''
  return { kind: 'mention', from: caret - typed.length - 1, to: caret, typed }
}
