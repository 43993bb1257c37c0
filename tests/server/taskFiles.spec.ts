/** The files of a task, in which an agent may have left anything: folders, files, searches, downloads; with a workspace and without one. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setProjectSecret } from '#domain/api/projectSettings.schema.ts'
import { findTaskFiles } from '#domain/api/taskFiles.schema.ts'
import { deleteTask } from '#domain/api/tasks.schema.ts'
import { picture } from './pictures.ts'
import { bareRepository } from './pushing.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const secret = 'the-quiet-secret-of-the-project'
const run = promisify(execFile)
const outside = 'what the host keeps to itself'

let scene: Scene
let taskId = ''
let tree = ''
beforeAll(async () => {
  const work = 'mkdir -p made/by && echo "It was made." > made/by/agent.md'
  scene = await openScene(
    [{ when: /Make/, turns: [{ tools: [{ name: 'Bash', input: { command: work } }] }, { text: 'Made.' }] }],
    { env: { REPOSITORY_ENTRIES: '50000' } },
  )
  const name = { projectId: scene.projectId, name: 'A_SECRET' }
  await scene.ada.ask(setProjectSecret, { params: name, body: { value: secret } })
  taskId = (await scene.ada.task(scene.projectId, 'Make a file')).id
  await scene.ada.taskOnce(taskId, hasEnded)
  tree = join(scene.product.dataDir, 'runner/tasks', taskId, 'tree')
})
afterAll(() => scene?.close())

const read = (path: string, download?: 'true') =>
  scene.ada.ask(findTaskFiles, {
    params: { taskId },
    query: { path, ...(download && { download }) },
  })
const refused = (path: string, person = scene.ada) =>
  person.refused(findTaskFiles, { params: { taskId }, query: { path } })
const find = async (search: string) =>
  (await scene.ada.ask(findTaskFiles, { params: { taskId }, query: { search } })).files
const put = (path: string, content: string | Uint8Array) => writeFile(join(tree, path), content)

test('a folder, a file and a search have what the agent made', async () => {
  const { entries, leftOut, from } = await read('')
  expect(entries?.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'folder made',
    'folder src',
    'file README.md',
  ])
  expect(leftOut).toBe(0)
  expect(from).toMatchObject({ kind: 'workspace' })
  expect(await read('made/by/agent.md')).toEqual({
    file: {
      path: 'made/by/agent.md',
      kind: 'text',
      size: 13,
      target: null,
      mediaType: null,
      content: 'It was made.\n',
      cut: false,
      redacted: false,
    },
    from,
  })
  expect(await find('AGENT')).toEqual(['made/by/agent.md'])
  expect(await find('made')).toEqual(['made/by/agent.md'])
})

describe('in a hostile repository', () => {
  const count = 1_200
  beforeAll(async () => {
    await put('../beside', outside)
    await symlink('/etc/passwd', join(tree, 'passwd'))
    await symlink('..', join(tree, 'up'))
    await run('mkfifo', [join(tree, 'pipe')])
    await put('sparse', '')
    await truncate(join(tree, 'sparse'), 1024 ** 3)
    await put('new\nline', 'odd')
    await mkdir(join(tree, 'many'))
    await run('sh', ['-c', `seq -f f%06g ${count} | xargs touch`], { cwd: join(tree, 'many') })
  })
  afterAll(async () => {
    const planted = ['many', 'sparse', 'pipe', 'up', 'passwd', 'new\nline', '../beside']
    await run('rm', ['-rf', ...planted.map((path) => join(tree, path))])
  })

  // Attacks files: links out of the workspace, as a file and as a folder.
  test('links are shown and not followed', async () => {
    const { entries } = await read('')
    expect(entries).toContainEqual(
      expect.objectContaining({ name: 'passwd', kind: 'link', target: '/etc/passwd' }),
    )
    const link = { kind: 'link', target: '/etc/passwd', content: null }
    expect((await read('passwd')).file).toMatchObject(link)
    expect((await read('passwd', 'true')).file).toMatchObject(link)
    expect((await read('up')).file).toMatchObject({ kind: 'link', target: '..' })
    for (const path of ['up/beside', 'up/tree/README.md', 'up/ready.json'])
      expect(await refused(path)).toMatchObject({ status: 404, field: 'path' })
  })

  // Attacks files: paths with `..`, absolute ones, and those of `.git`.
  test.each([
    '../beside',
    '/etc/passwd',
    'src/../../beside',
    '.git/config',
    'made/.git',
    './README.md',
    'a//b',
  ])('%s is no path', async (path) =>
    expect(await refused(path)).toMatchObject({ status: 400, code: 'invalid_input', field: 'path' }),
  )

  // Attacks files: a pipe, and a file of a gigabyte without content.
  test('a pipe is not opened, and of a large file only the beginning is read', async () => {
    const { entries } = await read('')
    expect(entries).toContainEqual(expect.objectContaining({ name: 'sparse', size: 1024 ** 3 }))
    expect((await read('sparse')).file).toMatchObject({ kind: 'binary', size: 1024 ** 3, content: null })
    expect((await read('sparse', 'true')).file).toMatchObject({ cut: true, content: null })
    expect(await refused('pipe')).toMatchObject({ status: 404 })
    await rm(join(tree, 'README.md'))
    await run('mkfifo', [join(tree, 'README.md')])
    expect((await read('README.md')).file).toMatchObject({ kind: 'other', content: null })
    await rm(join(tree, 'README.md'))
    await put('README.md', '# Engine\n\nIt computes.\n')
  })

  // Attacks files: a folder of more files than can be shown.
  test('a folder of many files lists 1,000 of them and says how many it leaves out', async () => {
    const { entries, leftOut } = await read('many')
    expect(entries).toHaveLength(1_000)
    expect(entries?.[0]?.name).toBe('f000001')
    expect(leftOut).toBe(count - 1_000)
    expect((await read('many/f001199')).file).toMatchObject({ kind: 'text', content: '' })
    expect(await find('f001199')).toEqual(['many/f001199'])
  })

  test('a name may have a line break, but no message mentions it', async () => {
    expect((await read('new\nline')).file).toMatchObject({ kind: 'text', content: 'odd' })
    expect(await find('line')).not.toContain('new\nline')
  })
})

describe('a file', () => {
  // Attacks files: a secret in a file, as it is and encoded.
  test('has its secrets hidden, shown and downloaded', async () => {
    await put('settings.txt', `key=${secret}\nkey=${Buffer.from(secret).toString('hex')}\n`)
    const { file } = await read('settings.txt')
    expect(file).toMatchObject({ kind: 'text', redacted: true })
    const downloaded = await read('settings.txt', 'true')
    expect(downloaded.file?.redacted).toBe(true)
    const bytes = Buffer.from(downloaded.file?.content ?? '', 'base64').toString()
    for (const text of [file?.content ?? '', bytes]) {
      expect(text).toContain('key=')
      expect(text).not.toContain(secret)
      expect(text).not.toContain(Buffer.from(secret).toString('hex'))
    }
  })

  // Attacks files: a secret at the place where a long file is cut.
  test('shows no part of a secret at the end of what was read of it', async () => {
    await put('run.log', `x${secret}\n`.repeat(30_000))
    const { file } = await read('run.log')
    expect(file).toMatchObject({ cut: true, redacted: true })
    expect(file?.content).not.toContain(secret.slice(0, 4))
  })

  // Attacks files: a secret in the target of a link.
  test('that is a link to a secret does not tell it', async () => {
    for (const [name, target] of [
      ['link', `https://${secret}@example.com`],
      ['long-link', `${'x'.repeat(190)}${secret}`],
    ] as const) {
      await symlink(target, join(tree, name))
      const { entries } = await read('')
      const { file } = await read(name)
      const shown = entries?.find((entry) => entry.name === name)
      for (const told of [shown?.target, file?.target]) {
        expect(told).toBeTruthy()
        expect(told).not.toContain(secret.slice(0, 4))
      }
      await rm(join(tree, name))
    }
  })

  test('is cut when it is long, and is downloaded as a whole', async () => {
    const line = `${'x'.repeat(99)}\n`
    await put('long.txt', line.repeat(20_000))
    const { file } = await read('long.txt')
    expect(file).toMatchObject({ kind: 'text', size: 2_000_000, cut: true })
    expect(file?.content).toBe(line.repeat(Math.floor((512 * 1_024) / 100)))
    const whole = Buffer.from((await read('long.txt', 'true')).file?.content ?? '', 'base64')
    expect(whole.toString()).toBe(line.repeat(20_000))
    const bytes = randomBytes(50_000)
    await put('data.bin', bytes)
    expect((await read('data.bin')).file).toMatchObject({ kind: 'binary', content: null, size: 50_000 })
    expect((await read('data.bin', 'true')).file?.content).toBe(bytes.toString('base64'))
  })

  // Attacks files: a picture with a script behind it, and an SVG.
  test('that is an image is written again; anything else with such a name is shown as what it is', async () => {
    const image = await picture('image/png', 4, 4)
    await put('real.png', Buffer.concat([image, Buffer.from('<script>hidden</script>')]))
    const { file } = await read('real.png')
    expect(file).toMatchObject({ kind: 'image', mediaType: 'image/png' })
    expect(Buffer.from(file?.content ?? '', 'base64').toString('latin1')).not.toContain('hidden')
    await put('false.png', '<script>')
    await put('picture.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')
    expect((await read('false.png')).file).toMatchObject({ kind: 'text', content: '<script>' })
    expect((await read('picture.svg')).file).toMatchObject({ kind: 'text', mediaType: null })
  })
})

// Attacks files: another person reads a task's files.
test('somebody else sees nothing of it', async () => {
  const grace = await scene.product.signIn('grace')
  expect(await refused('', grace)).toMatchObject({ status: 404, code: 'not_found' })
  expect(await refused('made/by/agent.md', grace)).toMatchObject({ status: 404, code: 'not_found' })
})

// Attacks files: a branch with 100,000 files in a folder.
test('a branch with 100,000 files in a folder is shown too, when nothing could be checked out', async () => {
  const gitDir = await bareRepository(scene.product.dataDir)
  const git = async (input: string, ...args: readonly string[]) => {
    const running = run('git', ['--git-dir', gitDir, '-c', 'user.name=a', '-c', 'user.email=a', ...args])
    if (input !== '') running.child.stdin?.end(input)
    return (await running).stdout.trim()
  }
  const blob = await git('One.', 'hash-object', '-w', '--stdin')
  const names = Array.from({ length: 100_000 }, (_, n) => `f${String(n).padStart(6, '0')}`)
  const many = await git(names.map((name) => `100644 blob ${blob}\t${name}\n`).join(''), 'mktree')
  const root = await git(`040000 tree ${many}\tmany\n`, 'mktree')
  await git('', 'update-ref', 'refs/heads/many', await git('Many.', 'commit-tree', root))
  const { id } = await scene.ada.task(scene.projectId, 'Look', 'many')
  await scene.ada.taskOnce(id, hasEnded)
  const folder = await scene.ada.ask(findTaskFiles, { params: { taskId: id }, query: { path: 'many' } })
  expect(folder.entries).toHaveLength(1_000)
  expect(folder).toMatchObject({ leftOut: 99_000, from: { kind: 'base', branch: 'many' } })
  const { files } = await scene.ada.ask(findTaskFiles, {
    params: { taskId: id },
    query: { search: '099999' },
  })
  expect(files).toEqual(['many/f099999'])
})

test('without a workspace, what was saved is shown; without that, the branch; of a deleted task nothing', async () => {
  await run('rm', ['-rf', join(tree, '..')])
  expect(await read('made/by/agent.md')).toMatchObject({
    file: { content: 'It was made.\n' },
    from: { kind: 'saved' },
  })
  expect(await find('agent')).toEqual(['made/by/agent.md'])
  expect(await refused('settings.txt')).toMatchObject({ status: 404 })
  await rm(join(scene.product.dataDir, 'blobs'), { recursive: true })
  const { entries, from } = await read('')
  expect(entries?.map(({ name }) => name)).toEqual(['src', 'README.md'])
  expect(from).toEqual({ kind: 'base', branch: 'main' })
  await scene.ada.ask(deleteTask, { params: { taskId } })
  expect(await refused('')).toMatchObject({ status: 404, code: 'not_found' })
})
