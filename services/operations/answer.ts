/** What an operator's command says in the end. */
export interface Answer {
  readonly lines: readonly string[]
  readonly failed?: boolean
}
