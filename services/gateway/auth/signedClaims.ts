/** Claims in a cookie or an address that only this server can have signed, and not long ago. */
import { jwtVerify, SignJWT, type JWTPayload } from 'jose'
import type { z } from 'zod'
import type { Clock } from '#platform/ports/clock.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface SignedClaims {
  sign(claims: JWTPayload): Promise<string>
  /** `undefined` for what is missing, forged, expired, or of another shape. */
  read<Claims>(signed: string | undefined, schema: z.ZodType<Claims>): Promise<Claims | undefined>
}

/** For one purpose, with a key of its own; valid for so many seconds. */
export function signedClaims(
  { vault, clock }: { readonly vault: Pick<Vault, 'deriveKey'>; readonly clock: Clock },
  purpose: string,
  seconds: number,
): SignedClaims {
  const key = vault.deriveKey(purpose)
  return {
    sign: (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime(new Date(clock.now().getTime() + seconds * 1_000))
        .sign(key),
    async read(signed, schema) {
      if (signed === undefined) return undefined
      const options = { algorithms: ['HS256'], currentDate: clock.now() }
      const verified = await jwtVerify(signed, key, options).catch(() => undefined)
      return verified && schema.safeParse(verified.payload).data
    },
  }
}

/** A cookie that is sent to `path` alone, and read by no script. `origin` is where the browser reaches us. */
export const cookieOptions = (
  origin: string,
  { path, seconds, sameSite }: { path: string; seconds: number; sameSite: 'lax' | 'strict' },
) =>
  ({
    httpOnly: true,
    sameSite,
    path,
    maxAge: seconds * 1_000,
    secure: origin.startsWith('https:'),
    signed: false,
    overwrite: true,
  }) as const
