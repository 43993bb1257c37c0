/**
 * Refuses changes of `.github/workflows` by Apps without the right to make them, and pushes to protected branches: branch by branch, with GitHub's
 * sentences. It is a `proc-receive` hook, because only that kind of hook can give git its own reason.
 */
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The git settings with which a push is checked, once the hook is in place. */
export interface WorkflowGuard {
  readonly settings: readonly (readonly [string, string])[]
}

/** The hook speaks git's pkt-lines: https://git-scm.com/docs/githooks#proc-receive. Git itself carries out what the hook lets pass. */
const hook = `
'use strict'
const { execFileSync } = require('node:child_process')
const { readSync, writeSync } = require('node:fs')
const zero = /^0+$/
function read(length) {
  const buffer = Buffer.alloc(length)
  for (let got = 0; got < length; ) {
    let more = 0
    try { more = readSync(0, buffer, got, length - got) } catch (error) { if (error.code !== 'EAGAIN') throw error; continue }
    if (more === 0) process.exit(1)
    got += more
  }
  return buffer
}
function line() {
  const length = parseInt(read(4).toString('latin1'), 16)
  return length < 4 ? undefined : read(length - 4).toString('utf8').replace(/\\n$/, '')
}
function lines() {
  const all = []
  for (let one = line(); one !== undefined; one = line()) all.push(one)
  return all
}
function write(text) {
  const body = Buffer.from(text + '\\n')
  writeSync(1, (body.length + 4).toString(16).padStart(4, '0'))
  writeSync(1, body)
}
const flush = () => writeSync(1, '0000')
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 24 }).split('\\n').find((one) => one !== '')
function touched(before, after) {
  if (zero.test(after)) return undefined
  const paths = ['--', '.github/workflows']
  return zero.test(before)
    ? git('log', '--format=', '--name-only', after, '--not', '--all', ...paths)
    : git('diff', '--name-only', '--diff-filter=d', before, after, ...paths)
}
const guardsWorkflows = process.env.CODEHOST_GUARDS_WORKFLOWS === '1'
const isForced = (before, after) => {
  try { execFileSync('git', ['merge-base', '--is-ancestor', before, after]) } catch { return true }
  return false
}
const protectedRefs = new Map(JSON.parse(process.env.CODEHOST_PROTECTED ?? '[]').map((one) => [
  'refs/heads/' + one.branch,
  (before, after) => {
    const words = 'protected branch hook declined'
    if (zero.test(after)) return words + ': cannot delete this branch'
    if (one.approvals !== null) return words + ': changes must be made through a pull request'
    if (one.signatures) return words + ': commits must have verified signatures'
    return !one.forcePushes && !zero.test(before) && isForced(before, after) ? words + ': cannot force-push to this branch' : undefined
  },
]))
lines()
write('version=1')
flush()
for (const command of lines()) {
  const [before, after, ...rest] = command.split(' ')
  const ref = rest.join(' ')
  const refusal = protectedRefs.get(ref)?.(before, after)
  const file = guardsWorkflows && refusal === undefined ? touched(before, after) : undefined
  if (refusal !== undefined) {
    write('ng ' + ref + ' ' + refusal)
  } else if (file === undefined) {
    write('ok ' + ref)
    write('option fall-through')
  } else {
    write('ng ' + ref + ' refusing to allow a GitHub App to create or update workflow \`' + file + '\` without \`workflows\` permission')
  }
}
flush()
`

/** Writes the hook into the data folder. */
export async function openWorkflowGuard(dataDir: string): Promise<WorkflowGuard> {
  const folder = join(dataDir, 'hooks')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // The extension makes it a CommonJS module, even if a package above declares another kind.
  const script = join(folder, 'proc-receive.cjs')
  await writeFile(script, hook, { mode: 0o600 })
  const [node, hooked] = [process.execPath, script].map((path) => `'${path.replaceAll("'", `'\\''`)}'`)
  const program = join(folder, 'proc-receive')
  await writeFile(program, `#!/bin/sh\nexec ${node} ${hooked}\n`)
  // A hook that was restored from a backup exists already, and may not be executable.
  await chmod(program, 0o700)
  return {
    settings: [
      ['core.hooksPath', folder],
      ['receive.procReceiveRefs', 'refs'],
    ],
  }
}
