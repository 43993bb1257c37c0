/** Refusals of requests: one thrown type, which each part of the code host writes as JSON, text or a page. */

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

/** 404 rather than 403 for private things of others, so that their existence is not revealed. */
export const notFound = (): Refusal => new Refusal(404, 'Not Found')

/** GitHub's 422 with the reasons. */
export const invalid = (...errors: readonly FieldFault[]): Refusal =>
  new Refusal(422, 'Validation Failed', errors)
