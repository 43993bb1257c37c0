/**
 * The kinds of GitHub tokens, which differ by prefix, and the scopes that a classic token needs. The prefixes are documented at
 * https://docs.github.com/authentication/keeping-your-account-and-data-secure/about-authentication-to-github
 */

export const tokenKinds = ['classic', 'fine_grained', 'oauth', 'app_user', 'installation', 'other'] as const
export type TokenKind = (typeof tokenKinds)[number]

const beginnings: readonly (readonly [string, TokenKind])[] = [
  ['ghp_', 'classic'],
  ['github_pat_', 'fine_grained'],
  ['gho_', 'oauth'],
  ['ghu_', 'app_user'],
  ['ghs_', 'installation'],
]

/** The kind of a token, judged only by its form. Classic tokens from before 2021 have no prefix: they are 40 hexadecimal digits. */
export function tokenKindOf(token: string): TokenKind {
  const known = beginnings.find(([beginning]) => token.startsWith(beginning))
  return known?.[1] ?? (/^[0-9a-f]{40}$/.test(token) ? 'classic' : 'other')
}

/** The scopes that a classic token needs, each with wider scopes that include it. */
const neededScopes = { repo: [], 'read:org': ['write:org', 'admin:org'], workflow: [] } as const

export function missingScopes(given: readonly string[]): readonly string[] {
  const held = Object.entries(neededScopes).filter(([name, wider]) =>
    [name, ...wider].some((scope) => given.includes(scope)),
  )
  return Object.keys(neededScopes).filter((name) => !held.some(([one]) => one === name))
}
