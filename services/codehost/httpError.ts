/** The error that the local code host throws to refuse a request. It is answered as JSON, as plain text or as a page. */

/** One entry of GitHub's `errors`. */
export interface FieldFault {
  readonly resource: string
  readonly field?: string
  readonly code: 'missing' | 'missing_field' | 'invalid' | 'already_exists' | 'custom'
  readonly message?: string
}

/** A request refused with GitHub's status and sentence. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly errors: readonly FieldFault[]
  constructor(status: number, message: string, errors: readonly FieldFault[] = []) {
    super(message)
    this.status = status
    this.errors = errors
  }
}

/** The refusal for a missing thing, and also for a private thing of somebody else, so that nobody learns that it exists. */
export const notFound = (): Refusal => new Refusal(404, 'Not Found')

/** GitHub's refusal of invalid fields, with the reasons. */
export const invalid = (...errors: readonly FieldFault[]): Refusal =>
  new Refusal(422, 'Validation Failed', errors)
