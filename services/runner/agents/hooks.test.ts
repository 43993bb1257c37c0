/** Which hooks of a repository can be allowed, and that no others ever run. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { settingsLimits } from '#domain/project/settings.ts'
import { claudeHome } from './claude/home.ts'
import { nothingBrought } from './home.ts'
import { allowedHooks, hooksIn, hooksNote } from './hooks.ts'

const path = '.claude/settings.json'
const filesWith = (text: string) => ({
  files: [{ path, content: Buffer.from(text), isExecutable: false }],
  notes: [],
  leftOut: [],
})
const run = (command: string, more: object = {}) => ({ type: 'command', command, ...more })
const withHooks = (hooks: unknown) => filesWith(JSON.stringify({ env: { A: 'b' }, hooks }))
const hashOf = ({ files }: ReturnType<typeof filesWith>) =>
  createHash('sha256')
    .update(files[0]?.content ?? '')
    .digest('hex')

const groups = {
  PostToolUse: [
    { matcher: 'Edit|Write', hooks: [run('npm run format', { timeout: 30 }), run('<b>x</b>\u001b[2K')] },
    { hooks: [run('date', { if: 'Bash(git *)' })] },
  ],
  Stop: [{ hooks: [run('npm test')] }],
}
const found = withHooks(groups)
const hash = hashOf(found)

test('hooks are listed with the hash of the file, each with its exact command', () => {
  expect(hooksIn(found)).toEqual({
    kind: 'shown',
    hash,
    hooks: [
      { event: 'PostToolUse', matcher: 'Edit|Write', hook: run('npm run format', { timeout: 30 }) },
      { event: 'PostToolUse', matcher: 'Edit|Write', hook: run('<b>x</b>\u001b[2K') },
      { event: 'PostToolUse', hook: run('date', { if: 'Bash(git *)' }) },
      { event: 'Stop', hook: run('npm test') },
    ],
  })
})

test('the settings of claude have the allowed hooks and nothing else of the file', () => {
  const settingsFor = (allowed: string | null) => {
    const hooks = allowedHooks(found, allowed)
    const file = claudeHome(new Set(), '/workspace', { ...nothingBrought, hooks }).find(
      (one) => one.path === path,
    )
    return JSON.parse(String(file?.content))
  }
  const { hooks, ...others } = settingsFor(hash)
  const [formatted, ...rest] = groups.PostToolUse
  expect(hooks).toEqual({
    PostToolUse: [
      ...(formatted?.hooks ?? []).map((hook) => ({ matcher: 'Edit|Write', hooks: [hook] })),
      ...rest,
    ],
    Stop: groups.Stop,
  })
  expect(others).toEqual(settingsFor(null))
  expect(others).not.toHaveProperty('env')
})

test('another version of the file stays off and is told of, a version that is allowed is not', () => {
  const other = filesWith(`${found.files[0]?.content.toString()}\n`)
  expect(allowedHooks(other, hash)).toEqual([])
  expect(hooksNote(other, hash)).toEqual([
    `The hooks in the repository's ${path} stay off: the project's owner has not allowed this version (SHA-256 ${hashOf(other).slice(0, 12)}) in the project's settings.`,
  ])
  expect(hooksNote(found, null)).toHaveLength(1)
  expect(hooksNote(found, hash)).toEqual([])
})

test.each([
  ['no settings', { files: [], notes: [], leftOut: [] }],
  ['settings that are not JSON', filesWith('{"hooks":')],
  ['settings without hooks', filesWith('{"env":{}}')],
  ['a list', filesWith('[]')],
  ['only empty groups', withHooks({ Stop: [{ hooks: [] }] })],
])('%s have no hooks to tell of', (_name, without) => {
  expect(hooksIn(without)).toBeNull()
  expect(hooksNote(without, null)).toEqual([])
})

describe('hooks that cannot be shown as they would run are refused with why', () => {
  const one = (hook: unknown, event = 'Stop') => withHooks({ [event]: [{ hooks: [hook] }] })
  test.each([
    ['a model that judges', one({ type: 'prompt', prompt: 'Is it fine?' })],
    ['an unknown option', one(run('date', { shell: 'powershell' }))],
    ['an unknown option of a group', withHooks({ Stop: [{ hooks: [run('date')], when: 'always' }] })],
    ['no command', one(run(''))],
    ['a command that is too long', one(run('x'.repeat(settingsLimits.hookCommandLength + 1)))],
    ['a name of an event that is none', one(run('date'), '../Stop')],
    ['another shape', withHooks(['date'])],
    ['null', withHooks(null)],
    ['too many', withHooks({ Stop: [{ hooks: Array.from({ length: 51 }, () => run('date')) }] })],
    ['a file that was left out', { files: [], notes: [], leftOut: [path] }],
  ])('%s', (_name, odd) => {
    const hooks = hooksIn(odd)
    expect(hooks).toEqual({ kind: 'refused', reason: expect.stringMatching(/[a-z0-9]$/) })
    expect(allowedHooks(odd, null)).toEqual([])
    expect(hooksNote(odd, null)).toEqual([expect.stringContaining('stay off: ')])
  })
})
