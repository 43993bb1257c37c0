/** Checks the email address that a person gives in the profile or the onboarding. */
import { z } from 'zod'
import { Email } from '#domain/api/auth.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { readInput } from '#domain/kernel/readInput.ts'

const Given = z.object({ email: Email })

/** The address to store, `null` for an empty one. The `stored` address is accepted as it is; throws `invalid_input` if another one is not valid. */
export function emailOf(email: string | null, stored: string | null): string | null {
  if (email === null || email === '' || email === stored) return email || null
  const read = readInput(Given, { email })
  if (read.kind === 'refused') throw new Fault('invalid_input', read.sentence, read.field)
  return read.data.email
}
