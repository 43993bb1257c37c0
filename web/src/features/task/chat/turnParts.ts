/** The parts of a turn: what its agent said, did and asked. */
import type { MessageDocument } from '#domain/views/chat.ts'
import type { LogDocument } from '#domain/views/commandLog.ts'
import type { QuestionDocument } from '#domain/views/questions.ts'
import type { WrittenMessage } from './streamingText.ts'

export type TurnPart = { readonly key: string; readonly order: string } & (
  | { readonly kind: 'text'; readonly message: MessageDocument }
  | { readonly kind: 'tool'; readonly log: LogDocument; readonly nested?: readonly ToolPart[] }
  | { readonly kind: 'writing'; readonly writing: WrittenMessage }
  | { readonly kind: 'question'; readonly question: QuestionDocument }
)

export type ToolPart = Extract<TurnPart, { kind: 'tool' }>
