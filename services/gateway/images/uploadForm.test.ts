/** Whatever is sent as the form of an upload, reading it gives one file or a refusal in time, and nothing is read beyond the limit. */
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { imageLimits, imageTexts } from '#domain/api/images.ts'
import { readImageForm, type ImageFile } from './uploadForm.ts'

let server: Server
let outcome: Promise<ImageFile | object>
let withinMs = 10_000

beforeEach(async () => {
  withinMs = 10_000
  let tell: (outcome: ImageFile | object) => void = () => {}
  outcome = new Promise((resolve) => (tell = resolve))
  server = createServer(async (request, response) => {
    tell(await readImageForm(request, withinMs, () => () => undefined).catch((fault: object) => fault))
    request.resume()
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const boundary = 'x-boundary-x'
const formType = `multipart/form-data; boundary=${boundary}`
const part = (disposition: string, body: string, type = 'image/png') =>
  `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\ncontent-type: ${type}\r\n\r\n${body}\r\n`
const image = (body = 'bytes', fileName = 'plan.png') => part(`name="image"; filename="${fileName}"`, body)
const field = (name: string, value: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const end = `--${boundary}--\r\n`

async function send(body: string | Buffer, type: string | undefined = formType) {
  const headers = type === undefined ? {} : { 'content-type': type }
  await fetch(url(), { method: 'POST', headers, body: new Uint8Array(Buffer.from(body)) })
  return outcome
}

/** Sends the beginning of a request, and never ends it. */
function begin(body: string): ReturnType<typeof httpRequest> {
  const request = httpRequest(url(), { method: 'POST', headers: { 'content-type': formType } })
  request.on('error', () => undefined)
  request.write(body)
  return request
}

const one = { code: 'invalid_input', field: 'image', message: expect.stringContaining('one image at a time') }
const broken = { code: 'invalid_input', message: expect.stringContaining('incomplete') }

describe('a form with one file', () => {
  test('gives its bytes and its name', async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256))
    const form = new FormData()
    form.set('image', new File([new Uint8Array(bytes)], 'größe ✓.png', { type: 'image/png' }))
    await fetch(url(), { method: 'POST', body: form })
    const file = await outcome
    expect(file).toMatchObject({ name: 'größe ✓.png' })
    expect('bytes' in file && file.bytes.equals(bytes)).toBe(true)
  })

  test('may have other fields and other files, which are passed over', async () => {
    const others = field('note', 'hello') + part('name="thumbnail"; filename="a.png"', 'x'.repeat(50_000))
    const read = await send(`${others}${image()}${field('__proto__', 'x')}${end}`)
    expect(read).toEqual({ name: 'plan.png', bytes: Buffer.from('bytes') })
  })

  test('may be an empty file, or one without a name', async () => {
    expect(await send(image('', '') + end)).toEqual({ name: '', bytes: Buffer.alloc(0) })
  })

  test('may come in pieces, cut anywhere', async () => {
    const whole = image('bytes\r\n--x-boundary') + end
    const request = begin('')
    for (const character of whole) request.write(character)
    request.end()
    expect(await outcome).toMatchObject({ bytes: Buffer.from('bytes\r\n--x-boundary') })
  })

  test('may be as large as is taken, and not a byte larger', async () => {
    const largest = 'x'.repeat(imageLimits.bytes)
    expect(await send(image(largest) + end)).toMatchObject({ bytes: { length: imageLimits.bytes } })
  })
})

describe('a form is refused', () => {
  test.each([
    ['without a file', end],
    ['without anything', `--${boundary}--`],
    ['with the file in another field', part('name="file"; filename="a.png"', 'bytes') + end],
    ['with a text for the file', field('image', 'https://example.com/a.png') + end],
    ['with two files', image() + image() + end],
    ['with many files', part('name="a"; filename="a"', 'a').repeat(5) + image() + end],
    ['with many fields', field('a', 'b').repeat(21) + image() + end],
    ['with many parts', (field('a', 'b') + part('name="a"; filename="a"', 'a')).repeat(11) + image() + end],
  ])('%s', async (_, body) => expect(await send(body)).toMatchObject(one))

  test.each([
    ['that ends in the middle of the file', image('bytes'.repeat(1_000)).slice(0, 200)],
    ['that lacks its last boundary', image()],
    ['with another boundary', image() + end.replace('x-', 'y-')],
    ['with a text', 'image=bytes'],
    ['with nothing', ''],
    ['with bytes', '\0\x01\x02\r\n\r\n--\r\n'],
  ])('%s', async (_, body) =>
    expect(await send(body)).toMatchObject({ code: 'invalid_input', message: expect.any(String) }),
  )

  test('with headers that go on for ever', async () => {
    const endless = `--${boundary}\r\n${'x-a: b\r\n'.repeat(20_000)}\r\n\r\nbytes\r\n${end}`
    expect(await send(endless)).toMatchObject({ code: 'invalid_input' })
  })

  test('that is above 10 MB, also when it does not say so before', async () => {
    const tooLarge = { code: 'too_large', field: 'image', message: imageTexts.size }
    expect(await send(image('x'.repeat(imageLimits.bytes + 1)) + end)).toMatchObject(tooLarge)
  })

  test('that is above 10 MB with what is passed over', async () => {
    const request = begin('')
    const more = 'x'.repeat(1_048_576)
    request.write(part('name="a"; filename="b"', more).slice(0, -2))
    for (let count = 0; count < 11; count += 1) request.write(more)
    expect(await outcome).toMatchObject({ code: 'too_large' })
    request.destroy()
  })

  test.each([
    ['JSON', 'application/json'],
    ['another form', 'application/x-www-form-urlencoded'],
    ['no type', undefined],
    ['no boundary', 'multipart/form-data'],
    ['no boundary after all', 'multipart/form-data; charset=utf-8'],
    ['another multipart', `multipart/mixed; boundary=${boundary}`],
  ])('of another type: %s', async (_, type) =>
    expect(await send(image() + end, type ?? '')).toMatchObject({ code: 'unsupported_type' }),
  )
})

describe('a client', () => {
  test('that stalls is not waited for', async () => {
    withinMs = 100
    const request = begin(image('bytes').slice(0, 120))
    expect(await outcome).toMatchObject({ code: 'too_slow' })
    request.destroy()
  })

  test('that goes away in the middle is given up at once', async () => {
    const request = begin(image('bytes'.repeat(100)).slice(0, 200))
    const [arrived]: IncomingMessage[] = await once(server, 'request')
    expect(arrived).toBeDefined()
    request.destroy()
    expect(await outcome).toMatchObject(broken)
  })
})
