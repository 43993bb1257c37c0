/** Guessing passwords is slowed down, and a password is stored nowhere except sealed in the vault. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { register } from '#domain/api/auth.schema.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { user } from '#domain/user/user.ts'
import { commands } from '#platform/commands/execute.ts'
import { openSqlite } from '#platform/engines/sqlite.ts'
import { onboard, type Person } from '../../product/person.ts'
import { startProduct, type Product } from '../../product.ts'
import { openStoppedProduct } from '../../server/stoppedProduct.ts'

const password = 'correct horse / battery + staple'
let product: Product
let nobody: Person
beforeAll(async () => {
  // Each test asks from an address of its own, as through a proxy.
  product = await startProduct({ env: { TRUST_PROXY: '1', ALLOWED_USERS: '*', LOG_LEVEL: 'debug' } })
  nobody = product.personWith(undefined)
  for (const email of ['pat@example.com', 'sam@example.com', 'crash@example.com']) await registering(email)
})
afterAll(() => product?.stop())

let clients = 0
/** A client's address that nobody has used yet. */
const fromElsewhere = (): Record<string, string> => ({ 'x-forwarded-for': `198.51.100.${(clients += 1)}` })

const registering = (email: string, headers = fromElsewhere()) =>
  nobody.ask(register, { body: { name: 'Pat Doe', email, password }, headers })
const signingIn = (email: string, word = password, headers = fromElsewhere()) =>
  nobody.api('POST', '/auth/login', { email, password: word }, headers)

describe('guessing', () => {
  const limited = {
    status: 429,
    body: { code: 'rate_limited', error: expect.stringMatching(/^Too many .*\.$/) },
  }

  const guesses = (count: number, email: string, headers?: Record<string, string>) =>
    Promise.all(Array.from({ length: count }, (_, n) => signingIn(email, `guess ${n}...`, headers)))
  const statusesOf = (answers: readonly { status: number }[]) => answers.map(({ status }) => status)

  test.each([
    ['that there is', 'crash@example.com'],
    ['that there is not', 'nobody@example.com'],
  ])('at an account %s is slowed down after five failures, wherever it comes from', async (_, email) => {
    expect(statusesOf(await guesses(5, email))).toEqual([401, 401, 401, 401, 401])
    // Also what would be right.
    const answer = await signingIn(email)
    expect(answer).toMatchObject(limited)
    const seconds = Number(answer.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
    // Others go on.
    expect((await signingIn('pat@example.com')).status).toBe(200)
  })

  test('begins anew once the password was right', async () => {
    expect(statusesOf(await guesses(4, 'pat@example.com'))).toEqual([401, 401, 401, 401])
    expect((await signingIn('pat@example.com')).status).toBe(200)
    expect(statusesOf(await guesses(1, 'pat@example.com'))).toEqual([401])
    expect((await signingIn('pat@example.com')).status).toBe(200)
  })

  test('from one address is slowed down after twenty failures, whichever the accounts, and whether or not they were taken', async () => {
    const here = fromElsewhere()
    expect(statusesOf(await guesses(2, 'somebody@example.com', here))).toEqual([401, 401])
    const body = { name: 'X', email: 'pat@example.com', password }
    for (let n = 0; n < 18; n += 1)
      expect((await nobody.api('POST', '/auth/register', body, here)).status).toBe(409)
    for (const answer of [
      await nobody.api('POST', '/auth/register', { ...body, email: 'fresh@example.com' }, here),
      await signingIn('pat@example.com', password, here),
    ]) {
      expect(answer).toMatchObject(limited)
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    }
    expect((await signingIn('pat@example.com')).status).toBe(200)
  })

  test('is not what somebody does who is right more often than that', async () => {
    const here = fromElsewhere()
    const right = await Promise.all(
      Array.from({ length: 7 }, () => signingIn('sam@example.com', password, here)),
    )
    expect(statusesOf(right)).toEqual(right.map(() => 200))
  })
})

describe('the password', () => {
  const secret = 'a Pa55word/that shows "nowhere" ~ at all'
  const formsOf = (text: string) => {
    const bytes = Buffer.from(text)
    const json = JSON.stringify(text).slice(1, -1)
    return [
      text,
      json,
      encodeURIComponent(text),
      bytes.toString('hex'),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
    ]
  }

  test('and its hash are nowhere in what is kept, printed or told; the hash is in the vault, sealed', async () => {
    const body = { name: 'Nobody Knows', email: 'nowhere@example.com', password: secret }
    const answers = [
      await nobody.api('POST', '/auth/register', body, fromElsewhere()),
      await nobody.api('POST', '/auth/register', body, fromElsewhere()),
      await nobody.api('POST', '/auth/register', { ...body, name: '' }, fromElsewhere()),
      await signingIn(body.email, secret),
      await signingIn(body.email, `${secret}!`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 409, 400, 200, 401])
    const { user: person } = register.answer.parse(answers[0]?.body)
    await onboard(product.personWith(register.answer.parse(answers[0]?.body).token), 'Nobody Knows')
    const running = await filesBelow(product.dataDir)
    await product.terminate()
    const kept = await filesBelow(product.dataDir)

    const stored = await openStoppedProduct(product.dataDir)
    const { state } = await commands(stored.log).load(user, userStream(person.id))
    const credentialId = state.kind === 'user' ? state.credentialId : null
    const hash = (await stored.vault.getSecret(`user:${person.id}`, `password:${credentialId}`)) ?? ''
    const events = JSON.stringify(await stored.log.read(userStream(person.id), 0, 100))
    await stored.close()
    expect(hash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/)
    expect(events).toContain(`"type":"PasswordSet","version":1`)

    const places = [
      ...[...running].map(([name, bytes]) => [`${name} while it ran`, bytes] as const),
      ...kept,
      ['what it printed', Buffer.from(product.logs.stdout + product.logs.stderr)] as const,
      ['what it told', Buffer.from(answers.map(({ text }) => text).join('\n'))] as const,
      ['the events, opened', Buffer.from(events)] as const,
    ]
    const [, , , salt = '', digest = ''] = hash.split('$').slice(0, 5)
    const secrets = [secret, hash, salt, digest, '$scrypt$']
    expect(secrets.every((one) => one.length > 5)).toBe(true)
    const found = secrets.flatMap((one) =>
      places.flatMap(([where, bytes]) =>
        formsOf(one).some((form) => bytes.includes(form)) ? [`${one.slice(0, 9)}… in ${where}`] : [],
      ),
    )
    expect(found).toEqual([])
    // What is there would have been found; and who it is stands in no event, nor is it guessed from the id.
    expect(places.filter(([, bytes]) => bytes.includes('Nobody Knows')).length).toBeGreaterThan(1)
    const log = [...kept].filter(([name]) => name.includes('events.sqlite'))
    expect(log.length).toBeGreaterThan(0)
    for (const [, bytes] of log) expect(bytes.includes('nowhere@example.com')).toBe(false)
    await product.restart()
  })

  async function filesBelow(folder: string): Promise<ReadonlyMap<string, Buffer>> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    return new Map(await Promise.all(names.map(async (name) => [name, await readFile(name)] as const)))
  }

  test('of who lost the race for an address is kept nowhere', async () => {
    const words = ['one of the two passwords', 'the other of the passwords']
    const answers = await Promise.all(
      words.map((word) =>
        nobody.api(
          'POST',
          '/auth/register',
          { name: 'Racer', email: 'racer@example.com', password: word },
          fromElsewhere(),
        ),
      ),
    )
    const won = answers.find(({ status }) => status === 201)
    const { user: person } = register.answer.parse(won?.body)
    await product.terminate()
    expect(secretsOf(person.id)).toBe(1)
    await product.restart()
  })

  /** How many secrets the vault of the stopped product has of a person. */
  function secretsOf(userId: string): number {
    const db = openSqlite({ file: join(product.dataDir, 'vault.sqlite'), synchronous: 'FULL', formats: [''] })
    try {
      return (
        db
          .prepare<[string], [number]>('SELECT count(*) FROM secrets WHERE scope = ?')
          .get(`user:${userId}`)?.[0] ?? 0
      )
    } finally {
      db.close()
    }
  }
})
