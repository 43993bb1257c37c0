import { expect, test } from 'vitest'
import { executionId, taskId } from '../../../../tests/domain/ids.ts'
import { testGit } from '../../../../tests/runner/workspaceScene.ts'
import { redactionOf } from '../../redaction/redaction.ts'
import { changesReport } from './changesReport.ts'

const unused = (): never => {
  throw new Error('This is not used here.')
}

test('the secrets of every process of a run are removed, also after a second one', async () => {
  const changes = changesReport(
    {
      git: testGit,
      blobs: { put: unused, get: unused, stateOf: unused, check: unused, remove: unused, list: unused },
      redaction: (secrets) => redactionOf(secrets, { run: unused, close: unused }),
      allowances: { runBytes: 0, ofRun: unused },
    },
    {
      treeGit: testGit,
      workspace: {
        taskId: taskId(1),
        dir: '',
        homeDir: '',
        privateGitDir: '',
        mirrorDir: '',
        mirrorObjects: '',
        branch: 'work',
        baseBranch: 'main',
        startCommit: null,
        owner: undefined,
      },
      executionId: executionId(1),
      secrets: ['the-secret-of-the-project'],
      reporter: { report: unused, delivered: unused, end: unused },
    },
  )
  changes.hide(['the-token-of-the-first'])
  changes.hide(['the-token-of-the-second'])
  const printed = 'the-secret-of-the-project the-token-of-the-first the-token-of-the-second'
  expect(await changes.redaction().text(printed)).toBe('[redacted] [redacted] [redacted]')
})
