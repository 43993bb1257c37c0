/** What the operator of single-user mode is told about GITHUB_TOKEN at the start. */
import { describe, expect, test } from 'vitest'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { ownTokenLine } from './announce.ts'

const lineOf = (ownToken: string, tokenScopes: () => Promise<readonly string[] | null>, withinMs = 60_000) =>
  ownTokenLine({ ownToken, tokenScopes }, withinMs)
const has = (scopes: readonly string[] | null) => async () => scopes
const refuses = (kind: CodeHostFault['kind'], said: string) => async () => {
  throw new CodeHostFault(kind, said)
}
const classic = `ghp_${'a'.repeat(36)}`

describe('github 4.7: the token in GITHUB_TOKEN', () => {
  test.each([[['repo', 'read:org', 'workflow']], [['admin:org', 'gist', 'repo', 'workflow']]])(
    'that has what is needed is not talked of: %j',
    async (scopes) => {
      expect(await lineOf(classic, has(scopes))).toBeNull()
    },
  )

  test.each([
    [['public_repo', 'workflow', 'read:org'], 'repo'],
    [['repo'], 'read:org, workflow'],
    [[], 'repo, read:org, workflow'],
  ])('that lacks scopes is told with their names: %j', async (scopes, missing) => {
    expect(await lineOf(classic, has(scopes))).toBe(
      `The token in GITHUB_TOKEN lacks scopes: ${missing}. Its owner can add them on GitHub: Settings, Developer settings, Personal access tokens.`,
    )
  })

  test('that is fine-grained is told of with what it needs, as its rights cannot be listed', async () => {
    const line = await lineOf('github_pat_x', has(null))
    expect(line).toMatch(/rights of a fine-grained token cannot be listed/)
    for (const name of ['Contents', 'Pull requests', 'Issues', 'Actions', 'Workflows'])
      expect(line).toContain(name)
  })

  test('of which the host lists no scopes is not talked of', async () => {
    expect(await lineOf('ghu_x', has(null))).toBeNull()
    expect(await lineOf(classic, has(null))).toBeNull()
  })

  test('that is refused is told', async () => {
    const said = 'GitHub no longer accepts the token in GITHUB_TOKEN.'
    expect(await lineOf(classic, refuses('unauthorized', said))).toBe(said)
  })

  test('that could not be checked is told with the reason, and the start waits for no host', async () => {
    expect(await lineOf(classic, refuses('unavailable', "GitHub can't be reached."))).toBe(
      "The token in GITHUB_TOKEN could not be checked: GitHub can't be reached.",
    )
    expect(await lineOf(classic, () => new Promise(() => undefined), 1)).toBe(
      'The token in GITHUB_TOKEN could not be checked: GitHub did not answer in time.',
    )
  })
})
