/** The audit record of a task: downloaded from the product, and checked with the program that anybody can run. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTaskAudit } from '#domain/api/history.schema.ts'
import { listAuditLog } from '#domain/api/admin.schema.ts'
import { deleteTask, executeTask } from '#domain/api/tasks.schema.ts'
import { blobsIn } from '#domain/proof/bundleContents.ts'
import { fingerprintOf } from '#domain/proof/logKeys.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { signingKey } from '../domain/auditBundles.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { openSqlite } from '#platform/engines/sqlite.ts'
import { BundleRecord } from '#domain/proof/auditBundle.schema.ts'
import { originOf } from '#domain/proof/bundleHashes.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'
import { openStoppedProduct } from './stoppedProduct.ts'
import { createGate } from '../standins/messagesApi.ts'
import { runProduct } from '../product.ts'
import { isLongRun } from '../longRun.ts'

const verifier = fileURLToPath(new URL('../../dist/server/flightdeck-verify.mjs', import.meta.url))
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
  scene = await openScene(
    [
      { when: /wombat/, turns: [{ text: 'I waited for it.', hold: { afterWords: 2, gate } }] },
      { turns: [{ text: 'I change it.', tools: [change] }, { text: 'Changed, fee fie foe.' }] },
    ],
    { env: { ALLOWED_USERS: '*', ADMINS: 'grace' } },
  )
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

/** Runs the verifier in a process of its own, where nothing is remembered yet. The key of the log is given where no other key is. */
async function verified(lines: readonly string[], ...more: readonly string[]) {
  const isPinned = more.includes('--key') || more.includes('--known-keys')
  return checked(await kept('bundle.ndjson', lines), ...(isPinned ? more : [...more, '--key', logKey()]))
}

async function kept(name: string, lines: readonly string[]): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, `${lines.join('\n')}\n`)
  return file
}

function checked(file: string, ...more: readonly string[]) {
  return new Promise<{ code: number; output: string }>((resolve) => {
    execFile(
      process.execPath,
      [verifier, file, ...more],
      { env: { XDG_CONFIG_HOME: join(folder, 'nothing-remembered') }, cwd: folder },
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
const logKey = () => header().keys[0] ?? ''
const sealsFile = () => join(scene.product.dataDir, 'seals.ndjson')

test('has every event of the task, every word, and is whole; with a seal from outside it is witnessed', async () => {
  expect(whole.join('\n')).toMatch(/Plover/)
  expect(whole.join('\n')).toMatch(/fee fie foe/)
  expect(whole.join('\n')).toMatch(/plugh/)
  const alone = await verified(whole)
  expect(alone).toMatchObject({ code: 0, output: expect.stringMatching(/^whole, not witnessed\n/) })
  const known = await verified(whole, '--key', logKey(), '--seal', sealsFile())
  expect(known).toMatchObject({ code: 0, output: expect.stringMatching(/^whole\n/) })
  expect(known.output).toContain(`task: ${taskId}`)
  expect(known.output).toMatch(/\n(\d+) of \1 seals compared\n/)
})

const fingerprint = () => fingerprintOf(cryptography.sha256, logKey()) ?? ''

// Holds findings 2.8.
test('recorder H4: without a key nothing is whole, the key is remembered when first seen, and has to stay', async () => {
  const known = join(folder, 'config', 'known')
  const first = await verified(whole, '--known-keys', known)
  expect(first).toMatchObject({
    code: 3,
    output: expect.stringMatching(/^intact, key seen for the first time\n/),
  })
  expect(first.output).toContain(fingerprint())
  expect(await readFile(known, 'utf8')).toBe(`${header().logId} ${logKey()}\n`)
  const second = await verified(whole, '--known-keys', known)
  expect(second).toMatchObject({ code: 0, output: expect.stringMatching(/^whole, not witnessed\n/) })
  expect(second.output).toContain(`${fingerprint()}  ${logKey()}, remembered in ${known}`)
  const other = signingKey(originOf(header()), 9).vkey
  await writeFile(known, `${header().logId} ${other}\n`)
  const unknown = await verified(whole, '--known-keys', known)
  expect(unknown).toMatchObject({ code: 1, output: expect.stringMatching(/^unknown key/) })
  for (const key of [other, logKey()]) expect(unknown.output).toContain(key)
  await writeFile(known, 'nonsense\n')
  expect(await verified(whole, '--known-keys', known)).toMatchObject({ code: 2 })
})

// Holds findings 2.9.
test('recorder H4: a bundle with a fault is no reason to remember its key', async () => {
  const known = join(folder, 'none', 'known')
  expect(await verified(whole.toSpliced(3, 1), '--known-keys', known)).toMatchObject({ code: 1 })
  expect(existsSync(known)).toBe(false)
})

test('a key may be given as its fingerprint', async () => {
  expect(await verified(whole, '--key', fingerprint())).toMatchObject({ code: 0 })
  const other = fingerprintOf(cryptography.sha256, signingKey(originOf(header()), 9).vkey) ?? ''
  expect(await verified(whole, '--key', other)).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^unknown key/),
  })
})

// Holds findings 2.11.
test('recorder H4: what a forged bundle says makes no line of the answer', async () => {
  const forged = whole.map((line) =>
    line.includes('"kind":"proof"') ? line.replace('"stream":"', '"stream":"\\u001b[2J\\nwhole\\n') : line,
  )
  const { code, output } = await verified(forged)
  expect(code).toBe(1)
  expect(output).toContain('whole')
  expect(output.split('\n')).not.toContain('whole')
  expect(output).not.toContain('\u001b')
})

// Holds findings 2.14.
test('recorder M6: a file of seals without a seal is a fault, and not a check without it', async () => {
  const empty = await kept('no-seals', [])
  for (const file of [empty, join(folder, 'bundle.ndjson')])
    expect((await verified(whole, '--seal', file)).code).toBe(2)
})

// Holds findings 2.7.
test('recorder H3: lists the seals before its own with proofs, and proves any size that it is asked for', async () => {
  const seals = (await readFile(sealsFile(), 'utf8')).trimEnd().split('\n')
  const listed = records().flatMap((record) => (record.kind === 'seal' ? [record.size] : []))
  const sizes = seals.map((line) => Number(String(JSON.parse(line).checkpoint).split('\n')[1]))
  const own = Number(header().checkpoint.split('\n')[1])
  expect(listed.toSorted((a, b) => a - b)).toEqual(sizes.filter((size) => size < own))
  const asked = await bundle('?seal=3&seal=5&seal=999999999')
  const proven = asked.flatMap((line) => {
    const record = BundleRecord.parse(JSON.parse(line))
    return record.kind === 'seal' ? [record.size] : []
  })
  expect(proven).toEqual(expect.arrayContaining([3, 5]))
  expect(proven).not.toContain(999_999_999)
  expect(await verified(asked)).toMatchObject({ code: 0 })
  const tooMany = Array.from({ length: 51 }, (_, size) => `seal=${size + 1}`).join('&')
  for (const query of [tooMany, 'seal=0', 'seal=x'])
    expect((await scene.ada.api('GET', `/tasks/${taskId}/audit?${query}`)).status).toBe(400)
})

test('several people get one at once, each whole', async () => {
  const each = await Promise.all([bundle(), bundle(), bundle()])
  for (const lines of each) expect(await verified(lines)).toMatchObject({ code: 0 })
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

test('recorder L4: what was withheld may be put in later, and what was not said may not', async () => {
  const lines = await bundle('?withhold=prompts')
  const at = lines.findIndex((line) => line.includes('"withheld"'))
  const id: unknown = JSON.parse(lines[at] ?? '').event.id
  const shown = whole.find((line) => line.includes(`"id":"${String(id)}"`)) ?? ''
  const added = await verified(lines.with(at, shown))
  expect(added).toMatchObject({ code: 0, output: expect.stringMatching(/^whole/) })
  expect(added.output).toContain('withheld first and shown here: 1')
  const forged = await verified(lines.with(at, shown.replace('Plover', 'Clover')))
  expect(forged).toMatchObject({ code: 1, output: expect.stringContaining('changed at task-') })
})

// The tests of the verifier's parts show these, so `npm test` leaves the program's runs to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
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
    const newer = JSON.stringify({ ...header(), version: 3 })
    expect(await verified(whole.with(0, newer))).toMatchObject({
      code: 2,
      output: expect.stringMatching(/^newer format/),
    })
    const other = signingKey(originOf(header()), 9).vkey
    const unknown = await verified(whole, '--key', other)
    expect(unknown).toMatchObject({ code: 1, output: expect.stringMatching(/^unknown key/) })
    expect(unknown.output).toMatch(new RegExp(`signed by: .*${logKey().replaceAll(/[+.]/g, '.')}`))
    expect(await verified(whole, '--seal', join(folder, 'nothing'))).toMatchObject({ code: 2 })
  })
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

// The tests of the verifier's parts show these, so `npm test` leaves the program's runs to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('takes lines that are too long or no text for what they are, and says where', async () => {
    const file = join(folder, 'bundle.ndjson')
    const [first = '', ...rest] = whole
    const long = `{"kind":"event","long":"${'x'.repeat(65 * 1_048_576)}"}`
    const bytes = Buffer.concat([
      Buffer.from(`${first}\n${long}\n`),
      Buffer.of(0xff, 0x0a),
      Buffer.from(rest.join('\n')),
    ])
    await writeFile(file, bytes)
    const { code, output } = await checked(file, '--key', logKey())
    expect(code).toBe(1)
    expect(output.trim().split('\n')).toEqual([
      'unreadable at line 2: This line is no record of a bundle.',
      'unreadable at line 3: This line is no record of a bundle.',
    ])
  })
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
  const files = [await kept('running.ndjson', running), await kept('ended.ndjson', ended)] as const
  const compared = await checked(...files, '--key', logKey())
  expect(compared).toMatchObject({ code: 0, output: expect.stringMatching(/^agree\n/) })
  expect(compared.output).toMatch(/The second goes on from the first: it has \d+ more events/)
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
  await expect.poll(isThere).toBe(true)
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
  // Asked to end as soon as it has begun to check.
  const abort = encodeURIComponent("process.once('worker', () => process.kill(process.pid, 'SIGTERM'))")
  const env = { PATH: process.env['PATH'] ?? '', NODE_OPTIONS: `--import=data:text/javascript,${abort}` }
  expect(await runProduct(env, ['verify', '--data', dataDir])).toMatchObject({ code: 1, stdout: '' })
  expect(await verify()).toMatchObject({ code: 0 })
  await scene.product.restart()
})

test.each([[['verify']], [['restored']], [['seals']], [['seals', 'new-key']], [['jobs']]])(
  '%j makes no data folder where there is none',
  async (words) => {
    const nowhere = join(scene.product.dataDir, 'nowhere')
    const env = { PATH: process.env['PATH'] ?? '' }
    expect(await runProduct(env, [...words, '--data', nowhere])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^There is no data folder at/),
    })
    expect(existsSync(nowhere)).toBe(false)
  },
)

// Holds findings 2.13.
test('recorder H2, M4, M7: of contents and blobs that are not there it says why, and of a deleted task it has the events', async () => {
  await scene.product.terminate()
  const { dataDir } = scene.product
  const db = (name: string, format: number) =>
    openSqlite({ file: join(dataDir, name), synchronous: 'FULL', formats: [''], firstFormat: format })
  const isOf = (id: string) => (record: BundleRecord) =>
    record.kind === 'event' && record.event.stream === taskStream(id) && record.content.kind === 'disclosed'
  const later = records().findLast(isOf(taskId))
  const revision = later?.kind === 'event' ? later.event.revision : 0
  const events = db('events.sqlite', 4)
  events
    .prepare<[string, string, number], never>(
      'UPDATE events SET content = ? WHERE stream = ? AND revision = ?',
    )
    .run('AAAA', taskStream(taskId), revision)
  events.close()
  const [blob = ''] = records().flatMap((record) =>
    record.kind === 'event' && record.event.type === 'WorkspaceSnapshotTaken' ? blobsIn(record.event) : [],
  )
  const blobFile = join(dataDir, 'blobs', blob.slice(0, 2), blob.slice(2, 4), blob)
  const bytes = await readFile(blobFile)
  await writeFile(blobFile, Buffer.concat([bytes.subarray(0, -1), Buffer.of((bytes.at(-1) ?? 0) ^ 1)]))
  const stored = await openStoppedProduct(dataDir)
  await stored.vault.destroy(scopeOfStream(taskStream(waitedId)))
  await stored.close()
  // The task is folded anew, and then cannot be read any more.
  for (const ending of ['', '-wal', '-shm']) await rm(join(dataDir, `views.sqlite${ending}`), { force: true })
  await scene.product.restart()
  const damaged = await scene.ada.taskOnce(taskId, (now) => now.unreadable !== undefined)
  expect(damaged.unreadable?.revision).toBe(revision)

  const lines = await bundle()
  const found = await verified(lines)
  expect(found.code).toBe(1)
  expect(found.output).toContain(`changed at ${taskStream(taskId)}@${revision}: The server found`)
  expect(found.output).toContain(`The server found that the blob ${blob} was changed.`)
  expect(found.output.trim().split('\n')).toHaveLength(2)
  expect(lines.join('\n')).toMatch(/fee fie foe/)

  const erased = await bundle('', waitedId)
  expect(erased.join('\n')).not.toMatch(/wombat|waited/i)
  const gone = await verified(erased)
  expect(gone).toMatchObject({ code: 0, output: expect.stringMatching(/^whole[^]*\nerased: \d+/) })
  expect(gone.output).toMatch(/\nblobs: 0 of \d+ kept, \d+ erased, 0 missing\n/)
})

// Holds findings 2.2.
test('recorder H2: a content whose key is missing is said to be that, and no change', async () => {
  const { id } = await scene.ada.task(scene.projectId, words)
  await scene.ada.taskOnce(id, hasEnded)
  await scene.product.terminate()
  const vault = openSqlite({
    file: join(scene.product.dataDir, 'vault.sqlite'),
    synchronous: 'FULL',
    formats: [''],
    firstFormat: 1,
  })
  vault.prepare<[string], never>('DELETE FROM keys WHERE scope = ?').run(scopeOfStream(taskStream(id)))
  vault.close()
  await scene.product.restart()
  const lines = await bundle('', id)
  expect(lines.join('\n')).not.toMatch(/Plover/)
  const found = await verified(lines)
  expect(found).toMatchObject({ code: 0, output: expect.stringMatching(/^whole/) })
  expect(found.output).toMatch(/\nmissing key: \d+ could not be opened by the server\n/)
})

// Holds findings 2.15.
test('recorder M7: a deleted task has a bundle without content, for its former owner and for administrators', async () => {
  const { id } = await scene.ada.task(scene.projectId, words)
  await scene.ada.taskOnce(id, hasEnded)
  await scene.ada.ask(deleteTask, { params: { taskId: id } })
  const grace = await scene.product.signIn('grace')
  const alan = await scene.product.signIn('alan')
  const got = async (person: typeof grace) => person.api('GET', `/tasks/${id}/audit`)
  await expect.poll(async () => (await got(scene.ada)).status).toBe(200)
  expect((await got(scene.ada)).text).not.toMatch(/Plover|fee fie foe|xyzzy/)
  const erasedNow = async () => verified((await got(grace)).text.trimEnd().split('\n'))
  await expect.poll(async () => (await erasedNow()).output).toMatch(/^whole[^]*\nerased: \d+/)
  const answer = await erasedNow()
  expect(answer.code).toBe(0)
  expect(answer.output).not.toMatch(/withheld/)
  expect((await got(alan)).status).toBe(404)
  const log = await grace.ask(listAuditLog, { query: {} })
  expect(JSON.stringify(log)).toContain(id)
})
