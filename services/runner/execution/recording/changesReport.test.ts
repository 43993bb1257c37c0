import { expect, test } from 'vitest'
import { executionId, taskId } from '../../../../tests/domain/ids.ts'
import { testGit } from '../../../../tests/runner/workspaceScene.ts'
import { redactionOf } from '../../redaction/redaction.ts'
import { changesReport, redactChanges } from './changesReport.ts'

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

test('secrets are removed from the names of files', async () => {
  const secret = 'the-secret-of-the-project'
  const [name, previousName] = [`config/${secret}.env`, `old/${secret}`]
  const counts = { additions: 0, deletions: 0, binary: false }
  const diff = `diff --git a/${previousName} b/${name}\nsimilarity index 100%\nrename to ${name}\n`
  const { files } = await redactChanges(
    {
      kind: 'changes',
      currentBranch: 'work',
      baseBranch: 'main',
      head: null,
      ahead: 0,
      behind: 0,
      files: [
        { fileName: name, previousName, status: 'renamed', ...counts, diff },
        { fileName: 'docs/the-secret-of', status: 'added', ...counts, diff: '' },
      ],
      total: 2,
      tree: null,
      truncated: false,
    },
    redactionOf([secret], { run: unused, close: unused }),
  )
  expect(JSON.parse(files.toString())).toEqual([
    {
      fileName: 'config/[redacted].env',
      previousName: 'old/[redacted]',
      status: 'renamed',
      ...counts,
      diff: diff.replaceAll(secret, '[redacted]'),
    },
    { fileName: 'docs/the-secret-of', status: 'added', ...counts, diff: '' },
  ])
})
