/** Cookies of the way to the code host and back: sent nowhere else, and read by no script. */

/** `origin` is where the browser reaches us. */
export function cookieOptions(origin: string, seconds: number, sameSite: 'lax' | 'strict') {
  return {
    httpOnly: true,
    sameSite,
    path: '/api/auth/github',
    maxAge: seconds * 1_000,
    secure: origin.startsWith('https:'),
    signed: false,
    overwrite: true,
  } as const
}
