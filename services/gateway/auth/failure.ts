/** A way to the code host and back that did not lead to its end. */
import type { LinkError, SignInError } from '#domain/api/auth.ts'

/** `value` is what the page at which it ends knows it by. */
export class WayFailed extends Error {
  readonly value: SignInError | LinkError
  constructor(value: SignInError | LinkError, cause?: unknown) {
    super(value, { cause })
    this.value = value
  }
}

/** The account that was shown is not on the list of who may come in. */
export class NotAllowed extends WayFailed {
  readonly login: string
  constructor(login: string) {
    super('not_allowed')
    this.login = login
  }
}
