/** The audit record of a task: downloaded from the product, and checked by the program that anybody can run. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTaskAudit } from '#domain/api/history.schema.ts'
import { executeTask } from '#domain/api/tasks.schema.ts'
import { signingKey } from '../domain/auditBundles.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { openSqlite } from '#platform/engines/sqlite.ts'
import { BundleRecord } from '#domain/proof/auditBundle.schema.ts'
import { originOf } from '#domain/proof/bundleHashes.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'
import { openStored } from './stored.ts'
import { createGate } from '../standins/messagesApi.ts'
import { runProduct } from '../product.ts'

const verifier = new URL('../../dist/server/flightdeck-verify.mjs', import.meta.url).pathname
const words = 'Plover, the words that somebody wrote'
const change = { name: 'Bash', input: { command: 'echo xyzzy >> README.md', description: 'Change' } }

const gate = createGate()

let scene: Scene
let taskId = ''
let waitedId = ''
let folder = ''
let whole: readonly string[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-audit-'))
  scene = await openScene([
    { when: /wombat/, turns: [{ text: 'I waited for it.', hold: { afterWords: 2, gate } }] },
    { turns: [{ text: 'I change it.', tools: [change] }, { text: 'Changed, fee fie foe.' }] },
  ])
  const task = await scene.ada.task(scene.projectId, words)
  taskId = task.id
  await scene.ada.taskOnce(taskId, hasEnded)
  await scene.ada.ask(executeTask, { params: { taskId }, body: { command: 'echo plugh' } })
  await scene.ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === 2)
  whole = await bundle()
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

async function bundle(query = '', of = taskId): Promise<readonly string[]> {
  const answer = await scene.ada.api('GET', `/tasks/${of}/audit${query}`)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.text.trimEnd().split('\n')
}

/** Runs the verifier in a process of its own, with an empty environment. */
async function verified(lines: readonly string[], ...more: readonly string[]) {
  const file = join(folder, 'bundle.ndjson')
  await writeFile(file, `${lines.join('\n')}\n`)
  return checked(file, ...more)
}

function checked(file: string, ...more: readonly string[]) {
  return new Promise<{ code: number; output: string }>((resolve) => {
    execFile(
      process.execPath,
      [verifier, file, ...more],
      { env: {}, cwd: folder },
      (fault, stdout, stderr) => {
        resolve({ code: typeof fault?.code === 'number' ? fault.code : 0, output: `${stdout}${stderr}` })
      },
    )
  })
}

const records = () => whole.map((line) => BundleRecord.parse(JSON.parse(line)))
const header = () => {
  const [first] = records()
  if (first?.kind !== 'header') throw new Error('There is no header.')
  return first
}
const sealsFile = () => join(scene.product.dataDir, 'seals.ndjson')

test('has every event of the task, every word, and is whole; with a seal from outside it is witnessed', async () => {
  expect(whole.join('\n')).toMatch(/Plover/)
  expect(whole.join('\n')).toMatch(/fee fie foe/)
  expect(whole.join('\n')).toMatch(/plugh/)
  const alone = await verified(whole)
  expect(alone).toMatchObject({ code: 0, output: expect.stringMatching(/^whole, not witnessed\n/) })
  const known = await verified(whole, '--key', header().keys[0] ?? '', '--seal', sealsFile())
  expect(known).toMatchObject({ code: 0, output: expect.stringMatching(/^whole\n/) })
  expect(known.output).toContain(`task: ${taskId}`)
})

test('leaves out what is to be withheld, and is still whole', async () => {
  const lines = await bundle('?withhold=prompts,answers,tools,output,details')
  expect(lines.join('\n')).not.toMatch(/Plover|xyzzy|fee fie foe|plugh|README/)
  const { code, output } = await verified(lines)
  expect(code).toBe(0)
  expect(output).toMatch(/withheld: \d+ prompts/)
  expect(output).toMatch(/withheld: \d+ output/)
  const refused = await scene.ada.refused(getTaskAudit, {
    params: { taskId },
    query: { withhold: 'everything' },
  })
  expect(refused.status).toBe(400)
})

test('names what was done to it, and exits accordingly', async () => {
  const at = whole.findIndex((line) => line.includes('Plover') && line.includes('"kind":"event"'))
  const changed = await verified(whole.with(at, (whole[at] ?? '').replace('Plover', 'Clover')))
  const place = (index: number) => {
    const record = records()[index]
    return record?.kind === 'event' ? `${record.event.stream}@${record.event.revision}` : ''
  }
  expect(changed).toMatchObject({ code: 1, output: expect.stringContaining(`changed at ${place(at)}`) })
  const removed = await verified(whole.toSpliced(at, 1))
  expect(removed).toMatchObject({ code: 1, output: expect.stringContaining(`removed at ${place(at)}`) })
  expect(await verified(whole.slice(0, -1))).toMatchObject({
    code: 1,
    output: expect.stringContaining('cut at the manifest'),
  })
  const newer = JSON.stringify({ ...header(), version: 2 })
  expect(await verified(whole.with(0, newer))).toMatchObject({
    code: 2,
    output: expect.stringMatching(/^newer format/),
  })
  const other = signingKey(originOf(header()), 9).vkey
  const unknown = await verified(whole, '--key', other)
  expect(unknown).toMatchObject({ code: 1, output: expect.stringMatching(/^unknown key/) })
  expect(unknown.output).toContain(`signed by: ${header().keys[0]}`)
  expect(await verified(whole, '--seal', join(folder, 'nothing'))).toMatchObject({ code: 2 })
})

test('does not check what it was not told: a key, a witness or a file that is none is a fault, and not a check without it', async () => {
  const empty = join(folder, 'no-keys')
  await writeFile(empty, '\n')
  for (const [option, value] of [
    ['--key', 'elsewhere+00000000+AAAA'],
    ['--key', 'nothing-of-the-kind'],
    ['--key', empty],
    ['--witness', header().keys[0] ?? ''],
    ['--witness', empty],
    ['--seal', join(folder, 'nothing')],
  ] as const)
    expect([option, value, (await verified(whole, option, value)).code]).toEqual([option, value, 2])
})

test('takes lines that are too long or no text for what they are, and says where', async () => {
  const file = join(folder, 'bundle.ndjson')
  const [first = '', ...rest] = whole
  const long = `{"kind":"event","long":"${'x'.repeat(65 * 1_048_576)}"}`
  const bytes = Buffer.concat([
    Buffer.from(`${first}\r\n${long}\n`),
    Buffer.of(0xff, 0x0a),
    Buffer.from(rest.join('\n')),
  ])
  await writeFile(file, bytes)
  const { code, output } = await checked(file)
  expect(code).toBe(1)
  expect(output.trim().split('\n')).toEqual([
    'unreadable at line 2: This line is no record of a bundle.',
    'unreadable at line 3: This line is no record of a bundle.',
  ])
})

test('is for the owner of the task alone', async () => {
  const grace = await scene.product.signIn('grace')
  const refused = await grace.refused(getTaskAudit, { params: { taskId } })
  expect(refused).toMatchObject({ status: 404, code: 'not_found' })
})

test('can be had while the task runs: each is whole, and goes as far as the log had come', async () => {
  const { id } = await scene.ada.task(scene.projectId, 'Wait for the wombat')
  waitedId = id
  await gate.reached
  const running = await bundle('', id)
  gate.release()
  await scene.ada.taskOnce(id, hasEnded)
  const ended = await bundle('', id)
  for (const lines of [running, ended])
    expect(await verified(lines)).toMatchObject({ code: 0, output: expect.stringMatching(/^whole/) })
  expect(ended.length).toBeGreaterThan(running.length)
})

test('anybody may download the program that checks it', async () => {
  const answer = await fetch(`${scene.product.base}/flightdeck-verify.mjs`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/javascript/)
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(await readFile(verifier))
})

test('killed after a seal was appended and before it was written outside, the next start writes it', async () => {
  await scene.product.kill9()
  const seals = await readFile(sealsFile(), 'utf8')
  const lines = seals.trimEnd().split('\n')
  // As the kill leaves it: without the last seal, and with half a line.
  await writeFile(sealsFile(), `${lines.slice(0, -1).join('\n')}\n${(lines.at(-1) ?? '').slice(0, 40)}`)
  await scene.product.restart()
  const isThere = async () => (await readFile(sealsFile(), 'utf8')).split('\n').includes(lines.at(-1) ?? '')
  await expect.poll(isThere, { timeout: 20_000 }).toBe(true)
  const known = await verified(whole, '--seal', sealsFile())
  expect(known).toMatchObject({ code: 0, output: expect.stringMatching(/^whole\n/) })
})

test('the stored log holds against its seals, and a log put back from before them does not', async () => {
  await scene.product.terminate()
  const { dataDir } = scene.product
  const verify = () => runProduct({ PATH: process.env['PATH'] ?? '' }, ['verify', '--data', dataDir])
  expect(await verify()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/The log is whole.* seals hold/s),
  })
  const seals = await readFile(sealsFile(), 'utf8')
  const last = seals.trimEnd().split('\n').at(-1) ?? ''
  const later = JSON.stringify({ ...JSON.parse(last), revision: 1_000 })
  await writeFile(sealsFile(), `${seals}${later}\n`)
  expect(await verify()).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('seal-1 @ 1000 was written outside'),
  })
  await writeFile(sealsFile(), seals)
  await scene.product.restart()
})

test('of a task that cannot be read on, and of one that was erased, it says what is missing and has the rest', async () => {
  await scene.product.terminate()
  const { dataDir } = scene.product
  const db = openSqlite({
    file: join(dataDir, 'events.sqlite'),
    synchronous: 'FULL',
    formats: [''],
    firstFormat: 4,
  })
  const later = records().findLast(
    (record) =>
      record.kind === 'event' &&
      record.event.stream === taskStream(taskId) &&
      record.content.kind === 'disclosed',
  )
  const revision = later?.kind === 'event' ? later.event.revision : 0
  db.prepare<[string, string, number], never>(
    'UPDATE events SET content = ? WHERE stream = ? AND revision = ?',
  ).run('AAAA', taskStream(taskId), revision)
  db.close()
  const stored = await openStored(dataDir)
  await stored.vault.destroy(scopeOfStream(taskStream(waitedId)))
  await stored.close()
  // The task is folded anew, and then cannot be read any more.
  for (const ending of ['', '-wal', '-shm']) await rm(join(dataDir, `views.sqlite${ending}`), { force: true })
  await scene.product.restart()
  const damaged = await scene.ada.taskOnce(taskId, (now) => now.unreadable !== undefined)
  expect(damaged.unreadable?.revision).toBe(revision)

  const lines = await bundle()
  const found = await verified(lines, '--key', header().keys[0] ?? '')
  expect(found).toMatchObject({ code: 0, output: expect.stringMatching(/^whole/) })
  expect(found.output).toContain('could not be opened by the server: 1')
  expect(lines.join('\n')).toMatch(/fee fie foe/)

  const erased = await bundle('', waitedId)
  expect(erased.join('\n')).not.toMatch(/wombat|waited/i)
  const gone = await verified(erased)
  expect(gone).toMatchObject({ code: 0, output: expect.stringMatching(/^whole[^]*\nerased: \d+/) })
})
