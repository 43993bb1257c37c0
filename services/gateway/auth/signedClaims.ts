/** Claims in a cookie or an address. The signature proves that this server made them recently. */
import { jwtVerify, SignJWT, type JWTPayload } from 'jose'
import type { Context } from 'koa'
import type { z } from 'zod'
import type { Clock } from '#platform/ports/clock.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface SignedClaims {
  sign(claims: JWTPayload): Promise<string>
  /** The claims; `undefined` when they are missing, forged, expired, or do not match the schema. */
  read<Claims>(signed: string | undefined, schema: z.ZodType<Claims>): Promise<Claims | undefined>
}

/** Signs and reads claims for one purpose, with a separate key. Claims are valid for `seconds`. */
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

/**
 * The name of a sign-in cookie. `origin` is our address as the browser sees it. With https, the name has a prefix that keeps pages of other hosts of
 * our site, such as previews, from setting the cookie. The browser sends a cookie with this prefix to all paths.
 */
export const hostCookieName = (origin: string, name: string): string =>
  origin.startsWith('https:') ? `__Host-${name}` : name

export const hostCookieOptions = (
  origin: string,
  { path, ...rest }: Parameters<typeof cookieOptions>[1],
): ReturnType<typeof cookieOptions> =>
  cookieOptions(origin, { ...rest, path: origin.startsWith('https:') ? '/' : path })

/** Sets a sign-in cookie, or deletes it when `value` is `null`. */
export function setHostCookie(
  cookies: Context['cookies'],
  origin: string,
  name: string,
  value: string | null,
  journey: Parameters<typeof cookieOptions>[1],
): void {
  // Our own address says how the browser came, since a proxy that ends https need not tell us.
  cookies.secure = origin.startsWith('https:')
  cookies.set(hostCookieName(origin, name), value, hostCookieOptions(origin, journey))
}

/** Options of a cookie that is sent only to `path`, and that no script can read. `origin` is our address as the browser sees it. */
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
