/** What git on the host is told, and git in a sandbox is not. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { gitEnvironment, gitText, hostGit } from './git.ts'

test('git on the host trusts the certificates that the operator named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-git-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const program = join(folder, 'git')
  writeFileSync(program, '#!/bin/sh\nenv\n', { mode: 0o755 })
  const call = { args: ['fetch'] }
  const certificates = '/etc/ssl/ours.pem'
  const told = async (given: { readonly certificates?: string }) =>
    gitText(hostGit({ program, path: '/usr/bin:/bin', ...given }), call)
  expect(await told({ certificates })).toContain(`GIT_SSL_CAINFO=${certificates}`)
  expect(await told({})).not.toContain('GIT_SSL_CAINFO')
  // The environment of git in a sandbox has nothing else.
  expect(gitEnvironment(call, '/bin')).not.toHaveProperty('GIT_SSL_CAINFO')
})
