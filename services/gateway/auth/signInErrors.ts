/** Why a sign-in ends without a person. */
import type { LinkError, SignInError } from '#domain/api/auth.ts'

/** The OAuth flow did not reach its end. */
export class SignInFailed extends Error {
  /** The code that the client's page knows it by. */
  readonly value: SignInError | LinkError
  constructor(value: SignInError | LinkError, cause?: unknown) {
    super(value, { cause })
    this.value = value
  }
}

/** The account is not on the list of who may sign in. */
export class AccountNotAllowed extends SignInFailed {
  readonly login: string
  constructor(login: string) {
    super('not_allowed')
    this.login = login
  }
}
