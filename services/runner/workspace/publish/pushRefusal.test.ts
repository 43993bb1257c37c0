/** The sentence about a push that the host refused names the credential that was used, and where to correct it. */
import { describe, expect, test } from 'vitest'
import type { NamedCredential } from '#domain/appPermissions.ts'
import { pushRefusal } from './publish.ts'

const refused = (stdout: string, stderr = ''): Parameters<typeof pushRefusal>[0] => ({
  code: 1,
  signal: null,
  endedBy: 'itself',
  stdout: Buffer.from(stdout),
  stderr: Buffer.from(stderr),
})
const ofWorkflows = (by: string) =>
  refused(
    `!\trefs/heads/x:refs/heads/x\t[remote rejected] (refusing to allow ${by} to create or update workflow \`.github/workflows/ci.yml\` without \`workflows\` permission)\n`,
  )

describe('github 4.6: workflow files that may not be pushed', () => {
  test.each<readonly [NamedCredential, RegExp]>([
    ['installation', /^The branch .* and the access of Flightdeck's App does not .*permission for workflows/],
    ['person', /^The branch .* and your access does not .*App the permission for workflows/],
    [
      'own_token',
      /^The branch .* and the token in GITHUB_TOKEN does not .*scope workflow, .*Personal access tokens/,
    ],
  ])('%s', (credential, sentence) => {
    const { kind, message } = pushRefusal(ofWorkflows('a credential'), credential)
    expect(kind).toBe('no_workflows')
    expect(message).toMatch(sentence)
    expect(message.includes("Flightdeck's App")).toBe(credential === 'installation')
  })
})

test.each<readonly [NamedCredential, string]>([
  ['installation', "The access of Flightdeck's App does not allow pushing to this repository"],
  ['person', 'Your access does not allow pushing to this repository'],
  ['own_token', 'The token in GITHUB_TOKEN does not allow pushing to this repository'],
])('github 4.6: a push that is refused names what was used: %s', (credential, sentence) => {
  const said = "fatal: unable to access 'https://code.example/': The requested URL returned error: 403"
  expect(pushRefusal(refused('', said), credential)).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining(sentence),
  })
})
