/** Images on their whole way: uploaded, attached, shown, given to the agent; and every way that fails. */
import { readFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import { FaultAnswer } from '#domain/api/fields.schema.ts'
import { imageLimits, imageTexts } from '#domain/api/images.ts'
import { ShownImage, uploadImage } from '#domain/api/images.schema.ts'
import { createTask, getTask, listTasks } from '#domain/api/tasks.schema.ts'
import { mediaTypes } from '#domain/image.ts'
import { imageAddresses } from '#platform/images/addresses.ts'
import { purposeKey } from '#platform/vault/sealing.ts'
import { type Person, onboard } from '../product/person.ts'
import { picture } from './pictures.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

let scene: Scene
let ada: Person
let grace: Person
let projectId = ''
let png: Buffer

beforeAll(async () => {
  scene = await openScene([])
  ada = scene.ada
  projectId = scene.projectId
  grace = await scene.product.signIn('grace', { onboarding: 'left' })
  png = await picture('image/png', 60, 40)
})
afterAll(() => scene?.close())

const formOf = (bytes: Buffer, name: string, field = 'image') => {
  const form = new FormData()
  form.set(field, new File([new Uint8Array(bytes)], name))
  return form
}
const post = (person: Person, body: BodyInit, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${scene.product.base}/api${uploadImage.path}`, {
    method: 'POST',
    headers: { ...(person.token === '' ? {} : { authorization: `Bearer ${person.token}` }), ...headers },
    body,
  })
async function upload(person: Person, bytes: Buffer = png, name = 'plan.png', headers = {}) {
  const answer = await post(person, formOf(bytes, name), headers)
  if (answer.status !== 201) throw new Error(`It was refused: ${answer.status} ${await answer.text()}`)
  return uploadImage.answer.parse(await answer.json())
}
async function refused(person: Person, body: BodyInit, headers = {}) {
  const answer = await post(person, body, headers)
  return { status: answer.status, ...FaultAnswer.parse(await answer.json()) }
}
/** As an `<img>` asks: with nothing but the address. */
const show = (url: string, init: RequestInit = {}) => fetch(`${scene.product.base}${url}`, init)
const bytesAt = async (url: string) => Buffer.from(await (await show(url)).arrayBuffer())
const blobFiles = async () =>
  (await readdir(join(scene.product.dataDir, 'blobs'), { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile(),
  )
const newTask = (images: unknown[], more: object = {}) => ({
  body: { description: 'Look at this', projectId, branch: 'main', images, ...more } as never,
})

const ImageBlock = z.object({
  type: z.literal('image'),
  source: z.object({ media_type: z.string(), data: z.string() }),
})
const WithBlocks = z.object({
  messages: z.array(z.object({ content: z.union([z.string(), z.array(z.unknown())]) })),
})
/** The images in the latest request that the model was sent for work. */
function imagesSeen(): readonly { media_type: string; data: string }[] {
  const bodies = scene.api.requests.map(({ body }) => WithBlocks.parse(body))
  const blocks = bodies
    .at(-1)
    ?.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  return (blocks ?? []).flatMap((block) => {
    const read = ImageBlock.safeParse(block)
    return read.success ? [read.data.source] : []
  })
}

describe('an upload', () => {
  test.each(mediaTypes)('of type %s is kept, and shown at an address that needs no token', async (type) => {
    const sent = await picture(type, 60, 40)
    const image = await upload(ada, sent, `my plan.${type.slice(6)}`)
    expect(image).toMatchObject({ name: `my plan.${type.slice(6)}`, type })
    const answer = await show(image.url)
    expect(answer.status).toBe(200)
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(bytes.length).toBe(image.size)
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 60, height: 40 })
  })

  test('is shown as what it is and as nothing else', async () => {
    const { url } = await upload(ada, png, 'größe (1).html')
    const { headers } = await show(url)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'content-disposition': `inline; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%281%29.html.png`,
      'cross-origin-resource-policy': 'same-origin',
    })
    const seconds = Number(/^private, max-age=(\d+)$/.exec(headers.get('cache-control') ?? '')?.[1])
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(900)
    expect((await show(url, { method: 'HEAD' })).headers.get('content-length')).toMatch(/^\d+$/)
  })

  test('may be repeated under its key, at once or later, and is one image', async () => {
    const headers = { 'idempotency-key': 'the same image' }
    const together = await Promise.all([1, 2, 3].map(() => upload(ada, png, 'plan.png', headers)))
    const later = await upload(ada, png, 'plan.png', headers)
    expect(new Set([...together, later].map(({ id }) => id)).size).toBe(1)
    expect(later).toMatchObject({ position: together[0]?.position })
    const jpeg = await picture('image/jpeg', 60, 40)
    expect(await refused(ada, formOf(jpeg, 'plan.png'), headers)).toMatchObject({
      status: 422,
      code: 'key_reused',
    })
  })
})

describe('an upload is refused, and nothing of it stays,', () => {
  let before = 0
  beforeAll(async () => {
    before = (await blobFiles()).length
  })

  test('from somebody who has not signed in, or not completed the onboarding', async () => {
    const form = () => formOf(png, 'plan.png')
    expect(await refused(scene.product.personWith(undefined), form())).toMatchObject({
      status: 401,
      code: 'sign_in_required',
    })
    expect(await refused(scene.product.personWith('made up'), form())).toMatchObject({ status: 401 })
    expect(await refused(grace, form())).toMatchObject({ status: 403, code: 'onboarding_incomplete' })
  })

  test.each([
    ['a text that is called an image', 'I am a picture.', imageTexts.type],
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', imageTexts.type],
    ['an empty file', '', imageTexts.type],
    ['a broken image', '\x89PNG\r\n\x1a\n', imageTexts.unreadable],
  ])('when it is %s', async (_, text, sentence) => {
    expect(await refused(ada, formOf(Buffer.from(text, 'latin1'), 'plan.png'))).toMatchObject({
      status: 400,
      code: 'invalid_input',
      field: 'image',
      error: sentence,
    })
  })

  // Holds contract 5.7c.
  test('when it is larger than 10 MB, and whoever sends it hears so', async () => {
    const sent = Buffer.concat([png, Buffer.alloc(imageLimits.bytes)])
    expect(await refused(ada, formOf(sent, 'plan.png'))).toMatchObject({
      status: 413,
      code: 'too_large',
      field: 'image',
      error: imageTexts.size,
    })
    expect(await refused(ada, formOf(Buffer.alloc(40 * 1_048_576), 'plan.png'))).toMatchObject({
      status: 413,
    })
  })

  test.each([
    ['no form', JSON.stringify({ image: 'plan.png' }), { 'content-type': 'application/json' }],
    ['bytes', 'bytes', { 'content-type': 'image/png' }],
    ['no boundary', 'bytes', { 'content-type': 'multipart/form-data' }],
  ])('when it is %s', async (_, body, headers) => {
    expect(await refused(ada, body, headers)).toMatchObject({ status: 415, code: 'unsupported_type' })
  })

  test('when the file is in another field, or there are two', async () => {
    expect(await refused(ada, formOf(png, 'plan.png', 'file'))).toMatchObject({ status: 400, field: 'image' })
    const two = formOf(png, 'plan.png')
    two.append('image', new File([new Uint8Array(png)], 'second.png'))
    expect(await refused(ada, two)).toMatchObject({ status: 400, field: 'image' })
  })

  test('when it breaks off, and others are served meanwhile', async () => {
    const request = httpRequest(`${scene.product.base}/api${uploadImage.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'multipart/form-data; boundary=x' },
    })
    request.on('error', () => undefined)
    request.write('--x\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\n\r\n')
    await new Promise((resolve) => request.write(png.subarray(0, 30), resolve))
    request.destroy()
    expect((await ada.api('GET', '/auth/me')).status).toBe(200)
    const cut = Buffer.from(
      '--x\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\n\r\nPNG',
    )
    expect(
      await refused(ada, new Uint8Array(cut), { 'content-type': 'multipart/form-data; boundary=x' }),
    ).toMatchObject({ status: 400 })
  })

  test('as all of these were', async () => expect(await blobFiles()).toHaveLength(before))
})

describe('an address', () => {
  const notThere = { status: 404 }
  const asked = async (url: string, init: RequestInit = {}) => {
    const answer = await show(url, init)
    await answer.arrayBuffer()
    return { status: answer.status, type: answer.headers.get('content-type') }
  }

  test('shows its own image, as it was given, and by reading alone', async () => {
    const [one, other] = [await upload(ada), await upload(ada)]
    const grant = one.url.split('?')[1] ?? ''
    const { type } = await asked(one.url)
    expect(type).toBe('image/png')
    for (const url of [
      `/api/images/${other.id}?${grant}`,
      `/api/images/${one.id}`,
      `/api/images/${one.id}?grant=`,
      `/api/images/${one.id}?${grant}&${grant}`,
      one.url.replace('grant=', 'grant=A'),
      `${one.url.slice(0, -4)}AAAA`,
      `/api/images/none?${grant}`,
    ])
      expect({ url, ...(await asked(url)) }).toMatchObject({ url, ...notThere })
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect((await asked(one.url, { method })).status).toBeGreaterThanOrEqual(400)
    // A token makes no address good.
    const headers = { authorization: `Bearer ${ada.token}` }
    expect(await asked(`/api/images/${one.id}`, { headers })).toMatchObject(notThere)
  })

  test('runs out', async () => {
    const image = await upload(ada)
    const masterKey = Buffer.from(
      readFileSync(join(scene.product.dataDir, 'master.key'), 'utf8').trim(),
      'base64',
    )
    const vault = { deriveKey: (purpose: string) => purposeKey(masterKey, purpose) }
    const at = (ms: number) => imageAddresses({ vault, clock: { now: () => new Date(ms) } })
    const opened = at(Date.now()).openedBy(image.id, image.url.split('grant=')[1] ?? '')
    if (!opened) throw new Error('It is not sealed as it was thought.')
    expect(await asked(at(Date.now()).addressOf(opened.image))).toMatchObject({ status: 200 })
    expect(await asked(at(Date.now() - 16 * 60_000).addressOf(opened.image))).toMatchObject(notThere)
  })

  test('shows nothing once the bytes are gone', async () => {
    const before = new Set((await blobFiles()).map(({ name }) => name))
    const { url } = await upload(ada)
    for (const { name, parentPath } of await blobFiles())
      if (!before.has(name)) await rm(join(parentPath, name))
    expect(await asked(url)).toMatchObject(notThere)
  })
})

describe('images of a task', () => {
  test('are named as the upload answered, by address or by id, and are those of its first message', async () => {
    const images = [await upload(ada, png, 'a.png'), await upload(ada, png, 'b.png'), await upload(ada)]
    const [first, second, third] = images
    const { task } = await ada.ask(createTask, newTask([first, second?.url, third?.id, first?.id]))
    const shown = images.map(({ id, name, size, type }) => ({ id, name, size, type }))
    expect(task.images).toMatchObject(shown)
    for (const { uploadedAt } of task.images) expect(Date.parse(uploadedAt)).toBeGreaterThan(0)
    const params = { taskId: task.id }
    expect((await ada.ask(getTask, { params })).task.images).toMatchObject(shown)
    const { tasks } = await ada.ask(listTasks)
    expect(tasks.find(({ id }) => id === task.id)?.images).toMatchObject(shown)
    const { messages } = await ada.ask(getChat, { params })
    expect(messages[0]?.images).toMatchObject(shown)
    for (const { url } of [...task.images, ...(messages[0]?.images ?? [])])
      expect(await bytesAt(url)).toEqual(await bytesAt(first?.url ?? ''))
    await ada.taskOnce(task.id, hasEnded)
  })

  test('reach the agent byte for byte', async () => {
    const webp = await upload(ada, await picture('image/webp', 90, 30), 'b.webp')
    const first = await upload(ada)
    const { task } = await ada.ask(createTask, newTask([first.id, webp.id]))
    await ada.taskOnce(task.id, hasEnded)
    expect(imagesSeen()).toEqual([
      { media_type: 'image/png', data: (await bytesAt(first.url)).toString('base64') },
      { media_type: 'image/webp', data: (await bytesAt(webp.url)).toString('base64') },
    ])
  })

  test('are at most five', async () => {
    const { id } = await upload(ada)
    expect(await ada.refused(createTask, newTask(Array(6).fill(id)))).toMatchObject({
      status: 400,
      field: 'images',
      error: 'Attach at most 5 images.',
    })
  })

  test.each([
    ['a number', 5],
    ['nothing', null],
    ['an empty text', ''],
    ['an address of something else', 'https://example.com/a.png'],
    ['an object without a name', {}],
    ['a long text', 'x'.repeat(100_000)],
  ])('are refused when they are named by %s', async (_, named) => {
    expect(await ada.refused(createTask, newTask([named]))).toMatchObject({ status: 400, field: 'images.0' })
  })

  test('are one’s own: another’s, one that never was and one that is gone are refused alike', async () => {
    await onboard(grace, 'Grace Hopper')
    const own = await upload(ada)
    const theirs = await upload(grace)
    const never = '00000000-0000-4000-8000-000000000000'
    const refusals = await Promise.all(
      [theirs, theirs.url, theirs.id, never].map((named) => ada.refused(createTask, newTask([own, named]))),
    )
    for (const refusal of refusals) {
      const { requestId: _requestId, ...told } = refusal
      expect(told).toEqual({
        status: 400,
        code: 'invalid_input',
        field: 'images.1',
        error: imageTexts.missing,
      })
    }
  })

  test('are attached once by a request that is repeated', async () => {
    const { id } = await upload(ada)
    const headers = { 'idempotency-key': 'one task with an image' }
    const before = (await blobFiles()).length
    const asked = await Promise.all([1, 2, 3].map(() => ada.ask(createTask, { ...newTask([id]), headers })))
    expect(new Set(asked.map(({ task }) => task.id)).size).toBe(1)
    const [first] = asked
    await ada.taskOnce(first?.task.id ?? '', hasEnded)
    expect(first?.task.images).toHaveLength(1)
    // The image, and what the turn saved: its work and its session.
    expect((await blobFiles()).length).toBe(before + 3)
  })
})

describe('images of a message', () => {
  let taskId = ''
  beforeAll(async () => {
    taskId = (await ada.task(projectId, 'Wait for images')).id
    await ada.taskOnce(taskId, hasEnded)
  })
  const send = (body: object) => ({ params: { taskId }, body: body as never })
  const turnEnds = async () => {
    const { messages } = await ada.ask(getChat, { params: { taskId } })
    const turns = messages.filter(({ messageType }) => messageType === 'user').length
    await ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === turns)
  }

  test('stand for its text, are said live, and reach the agent', async () => {
    const image = await upload(ada)
    const live = await watching(ada, taskId)
    const { chatMessage } = await ada.ask(sendMessage, send({ images: [image] }))
    expect(chatMessage).toMatchObject({ message: '', messageType: 'user', images: [{ id: image.id }] })
    await live.until(
      'the message with its image',
      ({ name, payload }) => name === 'chat_message' && payload.id === chatMessage.id,
    )
    const heard = live.of('chat_message').find(({ id }) => id === chatMessage.id)
    const shown = ShownImage.array().parse(heard?.images)
    expect(shown).toMatchObject([{ id: image.id, name: 'plan.png' }])
    expect(await bytesAt(shown[0]?.url ?? '')).toEqual(await bytesAt(image.url))
    live.close()
    await turnEnds()
    expect(imagesSeen()).toHaveLength(1)
    expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed', images: [] })
  })

  // Holds contract 5.8c.
  test('are at most three, and go neither with commands nor with notes', async () => {
    const { id } = await upload(ada)
    expect(await ada.refused(sendMessage, send({ message: 'x', images: [id, id, id, id] }))).toMatchObject({
      status: 400,
      field: 'images',
      error: 'Attach at most 3 images.',
    })
    for (const body of [
      { message: 'ls', isCommand: true, images: [id] },
      { message: 'ls', messageType: 'command', images: [id] },
      { message: 'a note', messageType: 'system', images: [id] },
    ])
      expect(await ada.refused(sendMessage, send(body))).toMatchObject({ status: 400, field: 'images' })
    for (const body of [{}, { images: [] }, { message: ' ', images: [] }])
      expect(await ada.refused(sendMessage, send(body))).toMatchObject({ status: 400, field: 'message' })
  })

  test('are one’s own', async () => {
    const { id } = await upload(grace)
    expect(await ada.refused(sendMessage, send({ message: 'x', images: [id] }))).toMatchObject({
      status: 400,
      field: 'images.0',
      error: imageTexts.missing,
    })
  })

  test('outlast a restart, and so do those that wait', async () => {
    const [attached, waiting] = [await upload(ada), await upload(ada)]
    const { chatMessage } = await ada.ask(sendMessage, send({ message: 'Two', images: [attached] }))
    await turnEnds()
    const bytes = await bytesAt(attached.url)
    await scene.product.kill9()
    await scene.product.restart()
    expect(await bytesAt(attached.url)).toEqual(bytes)
    expect(await bytesAt(chatMessage.images[0]?.url ?? '')).toEqual(bytes)
    const { messages } = await ada.ask(getChat, { params: { taskId } })
    const again = messages.find(({ id }) => id === chatMessage.id)
    expect(await bytesAt(again?.images[0]?.url ?? '')).toEqual(bytes)
    await ada.ask(sendMessage, send({ message: 'Three', images: [waiting.id] }))
    await turnEnds()
    expect(imagesSeen().length).toBeGreaterThan(0)
  })
})

test('a hundred images of a person may wait, and one more when one is attached', async () => {
  const small = await picture('image/png', 4, 4)
  const first = await upload(grace, small)
  for (;;) {
    const answer = await post(grace, formOf(small, 'a.png'))
    if (answer.status === 201) continue
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await answer.json()).toMatchObject({ code: 'rate_limited' })
    break
  }
  const { body } = await grace.api('POST', '/projects', {
    repoUrl: `${scene.product.codeHostUrl}/ada/engine`,
  })
  const { id } = z.object({ id: z.string() }).parse(body)
  const { task } = await grace.ask(createTask, newTask([first], { projectId: id }))
  await upload(grace, small)
  expect(await refused(grace, formOf(small, 'a.png'))).toMatchObject({ status: 429 })
  await grace.taskOnce(task.id, hasEnded)
})
