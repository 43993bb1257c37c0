/** Files that an agent leaves for people: kept at the end of its turn, bounded, without secrets, shown to their owner alone, and never run. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listArtifacts } from '#domain/api/artifacts.schema.ts'
import { deleteAccount } from '#domain/api/auth.schema.ts'
import { getChat, getCommands, getTaskImages, sendMessage } from '#domain/api/chat.schema.ts'
import { setProjectSecret } from '#domain/api/projectSettings.schema.ts'
import { getPullRequest, getTaskDiff } from '#domain/api/tasks.schema.ts'
import type { Person } from '../product/person.ts'
import { bash } from '../standins/agentDoings.ts'
import { picture } from './pictures.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const secret = 'swordfish-of-the-project'
const folder = '.flightdeck/artifacts'
const made = (bytes: Buffer, name: string) => `echo ${bytes.toString('base64')} | base64 -d > '${name}'`
const png = await picture('image/png', 60, 40)
const video = Buffer.concat([Buffer.of(0, 0, 0, 32), Buffer.from('ftypisom'), Buffer.alloc(200, 7)])
const page = '<html><script>alert(document.domain)</script></html>'

const leaving = (...commands: readonly string[]) => [
  { tools: [bash([`mkdir -p /workspace/${folder}`, `cd /workspace/${folder}`, ...commands].join(' && '))] },
  { text: 'Look at it.' },
]
const hostile = leaving(
  'ln -s /etc/passwd link',
  'ln -s / folder',
  'mkfifo pipe',
  'ln ../../README.md hard',
  'truncate -s 1G sparse.mp4',
  `printf x > '..\\..\\up.txt'`,
  `printf x > "$(printf 'a\\nb.txt')"`,
  `printf '%s' '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>' > a.svg`,
  made(Buffer.concat([png, Buffer.from(page)]), 'both.png'),
  `printf 'the token is ${secret}' > run.log`,
  `printf '\\0${secret}' > core.bin`,
  'printf good > "quote \\"; x.txt"',
)
const scripts = [
  {
    when: /^Leave proof/,
    turns: leaving(
      made(png, 'shot.png'),
      made(video, 'film.mp4'),
      `printf '%s' '${page}' > report.html`,
      '(echo New:; git -C ../.. status --porcelain --untracked-files=all) > status.txt',
      `printf '!.flightdeck\\n!artifacts\\n' > ../../.gitignore`,
    ),
  },
  { when: /^Leave more/, turns: leaving(`printf '%s' '${page}!' > report.html`) },
  { when: /^Leave traps/, turns: hostile },
  { when: /^Leave many/, turns: leaving('for i in $(seq 1000 1999); do echo $i > $i.txt; done') },
]

let scene: Scene
let grace: Person
beforeAll(async () => {
  scene = await openScene(scripts, { env: { ALLOWED_USERS: '*' } })
  const params = { projectId: scene.projectId, name: 'TOKEN' }
  await scene.ada.ask(setProjectSecret, { params, body: { value: secret, forAgent: true } })
  grace = await scene.product.signIn('grace')
})
afterAll(() => scene?.close())

async function taskOf(description: string): Promise<string> {
  const { id } = await scene.ada.task(scene.projectId, description)
  expect(await scene.ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
  return id
}
const artifactsOf = async (taskId: string) =>
  (await scene.ada.ask(listArtifacts, { params: { taskId } })).artifacts
const fetched = (url: string | undefined, headers: Record<string, string> = {}) =>
  fetch(`${scene.product.base}${url}`, { headers })
const systemSaid = async (taskId: string) => {
  const { messages } = await scene.ada.ask(getChat, { params: { taskId } })
  return messages
    .flatMap(({ messageType, message }) => (messageType === 'system' ? [message ?? ''] : []))
    .join()
}

describe('what an agent leaves', () => {
  let taskId = ''
  beforeAll(async () => {
    taskId = await taskOf('Leave proof')
  })

  test('is listed with its type and size, and is an entry of its turn', async () => {
    const artifacts = await artifactsOf(taskId)
    expect(artifacts.map(({ name, type }) => [name, type])).toEqual([
      ['film.mp4', 'video/mp4'],
      ['report.html', 'text/plain'],
      ['shot.png', 'image/png'],
      ['status.txt', 'text/plain'],
    ])
    const { logs } = await scene.ada.ask(getCommands, { params: { taskId } })
    const entry = logs.at(-1)
    expect(entry).toMatchObject({ kind: 'artifact', executionId: artifacts[0]?.executionId })
    expect(entry?.artifacts?.map(({ id }) => id)).toEqual(artifacts.map(({ id }) => id))
    const { images } = await scene.ada.ask(getTaskImages, { params: { taskId } })
    expect(images).toMatchObject([{ name: 'shot.png', type: 'image/png' }])
  })

  // Attacks artifacts: an HTML page with a script is opened in the product's origin.
  test('is served as a type that cannot run, in parts too', async () => {
    const [film, report, shot] = await artifactsOf(taskId)
    const page = await fetched(report?.url)
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': "inline; filename*=UTF-8''report.html",
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(await page.text()).toContain('alert(document.domain)')
    expect((await fetched(shot?.url)).headers.get('content-type')).toBe('image/png')
    const part = await fetched(film?.url, { range: 'bytes=4-11' })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes 4-11/${video.length}`)
    expect(await part.text()).toBe('ftypisom')
    expect((await fetched(film?.url, { range: 'bytes=9999-' })).status).toBe(416)
  })

  // Attacks artifacts: the repository takes the folder of artifacts into its changes.
  test('is never part of the changes, whatever the agent ignores, nor of what it would commit', async () => {
    const { data } = await scene.ada.ask(getTaskDiff, { params: { taskId } })
    expect(data.changedFiles.map(({ fileName }) => fileName)).toEqual(['.gitignore'])
    const status = (await artifactsOf(taskId)).find(({ name }) => name === 'status.txt')
    expect(await (await fetched(status?.url)).text()).toBe('New:\n')
  })

  test('is told to the agent', () =>
    expect(JSON.stringify(scene.api.requests)).toContain(`save it in /workspace/${folder}`))

  // Attacks artifacts: another person lists them, or opens one without its grant.
  test('is for its owner alone', async () => {
    expect(await grace.refused(listArtifacts, { params: { taskId } })).toMatchObject({ status: 404 })
    const [, , shot] = await artifactsOf(taskId)
    expect((await fetched(shot?.url.replace(/grant=.{20}/, 'grant=AAAAAAAAAAAAAAAAAAAA'))).status).toBe(404)
    expect((await fetched(shot?.url.replace(/\?.*/, ''))).status).toBe(404)
  })

  test('can be named in the text of a pull request', async () => {
    const { artifacts } = await scene.ada.ask(getPullRequest, { params: { taskId } })
    expect(artifacts?.count).toBe(4)
    expect(artifacts?.text).toMatch(/^## Artifacts\n\n- \[`film\.mp4`\]\(http:\S+\/tasks\/[\w-]+\)\n/)
  })

  test('is kept again in the next turn only where it changed', async () => {
    await scene.ada.ask(sendMessage, { params: { taskId }, body: { message: 'Leave more' } })
    await scene.ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === 2)
    const artifacts = await artifactsOf(taskId)
    expect(artifacts.slice(4).map(({ name }) => name)).toEqual(['report.html'])
    expect(artifacts[4]?.executionId).not.toBe(artifacts[0]?.executionId)
  })
})

// Attacks artifacts: links, pipes, hard links and sparse files in a real turn.
// Attacks artifacts: an SVG with a script, and a picture that is a page as well.
// Attacks artifacts: a name that ends the quotes of a header.
test('links, pipes, hard links, what is too large, has an odd name or a secret is refused by name; the rest is harmless', async () => {
  const taskId = await taskOf('Leave traps')
  const artifacts = await artifactsOf(taskId)
  expect(artifacts.map(({ name, type }) => [name, type])).toEqual([
    ['a.svg', 'application/octet-stream'],
    ['both.png', 'application/octet-stream'],
    ['quote "; x.txt', 'text/plain'],
    ['run.log', 'text/plain'],
  ])
  const odd = 'its name is too long or has characters that cannot be shown'
  expect((await systemSaid(taskId)).split('\n')).toEqual([
    'Not kept of `.flightdeck/artifacts`:',
    '',
    `- \`..\\..\\up.txt\`, \`a\\u000ab.txt\`, because ${odd}`,
    '- `folder`, `link`, because it is a link',
    '- `hard`, because it is a hard link to another file',
    '- `pipe`, because it is no plain file',
    '- `sparse.mp4`, because it is larger than 10 MB',
    '- `core.bin`, because it contains a secret or a token',
  ])
  const [svg, both, quoted, log] = await Promise.all(artifacts.map(({ url }) => fetched(url)))
  for (const download of [svg, both])
    expect(Object.fromEntries(download?.headers ?? [])).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringMatching(/^attachment; /),
      'content-security-policy': "default-src 'none'; sandbox",
    })
  expect(quoted?.headers.get('content-disposition')).toBe("inline; filename*=UTF-8''quote%20%22%3B%20x.txt")
  expect(await log?.text()).toBe('the token is [redacted]')
})

// Attacks artifacts: files without end.
test('of 1,000 files a turn keeps 20, and says how many it left out', async () => {
  const taskId = await taskOf('Leave many')
  const artifacts = await artifactsOf(taskId)
  expect(artifacts.map(({ name }) => name)).toEqual(Array.from({ length: 20 }, (_, at) => `${1000 + at}.txt`))
  expect(await systemSaid(taskId)).toContain('and 975 more, because a turn leaves at most 20 files')
})

test('what was left for a person is gone with their account', async () => {
  const taskId = await taskOf('Leave proof, once more')
  const [, , shot] = await artifactsOf(taskId)
  expect((await fetched(shot?.url)).status).toBe(200)
  await scene.ada.ask(deleteAccount)
  await expect.poll(async () => (await fetched(shot?.url)).status).toBe(404)
  expect(await scene.ada.refused(listArtifacts, { params: { taskId } })).toMatchObject({ status: 401 })
})
