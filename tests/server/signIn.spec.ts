/** Registering and signing in with a password, over HTTP: who gets in, and who does not. */
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completeOnboarding, getMe, login, logout, register, updateProfile } from '#domain/api/auth.schema.ts'
import { getGitHubUser, listProjects } from '#domain/api/projects.schema.ts'
import type { Person } from '../product/person.ts'
import { startProduct, type Product } from '../product.ts'

const password = 'correct horse / battery + staple'
let product: Product
let nobody: Person
beforeAll(async () => {
  // Each test asks from an address of its own, as through a proxy.
  product = await startProduct({ env: { TRUST_PROXY: '1', ALLOWED_USERS: '*', LOG_LEVEL: 'debug' } })
  nobody = product.personWith(undefined)
})
afterAll(() => product?.stop())

let clients = 0
/** A client's address that nobody has used yet. */
const fromElsewhere = (): Record<string, string> => ({ 'x-forwarded-for': `198.51.100.${(clients += 1)}` })

const registering = (email: string, headers = fromElsewhere()) =>
  nobody.ask(register, { body: { name: 'Pat Doe', email, password }, headers })
const signingIn = (email: string, word = password, headers = fromElsewhere()) =>
  nobody.api('POST', '/auth/login', { email, password: word }, headers)

describe('registering', () => {
  // Holds contract 7.2.
  test('makes a person, who is signed in and has the onboarding before them', async () => {
    const answer = await nobody.api(
      'POST',
      '/auth/register',
      { name: ' Pat Doe ', email: 'pat@example.com', password },
      fromElsewhere(),
    )
    expect(answer).toMatchObject({ status: 201, body: { position: expect.stringMatching(/^\d+$/) } })
    const { token, user: person } = register.answer.parse(answer.body)
    expect(person).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Pat Doe',
      fullName: 'Pat Doe',
      email: 'pat@example.com',
      avatar: null,
      onboardingCompleted: false,
      githubConnected: false,
      githubId: null,
      githubUsername: null,
    })
    const pat = product.personWith(token)
    expect((await pat.ask(getMe)).user).toEqual(person)
    expect(await pat.refused(listProjects)).toMatchObject({ code: 'onboarding_incomplete' })
    // The address that they registered is theirs, whatever they type.
    const { user: onboarded } = await pat.ask(completeOnboarding, {
      body: { fullName: 'Pat', email: 'other@example.com', companySize: 'solo', role: 'cto' },
    })
    expect(onboarded).toMatchObject({ email: 'pat@example.com', onboardingCompleted: true })
    expect((await pat.ask(listProjects)).projects).toEqual([])
    expect(await pat.refused(getGitHubUser)).toMatchObject({ status: 403, code: 'github_not_connected' })
  })

  test('is done once for an address, in whatever form it is written', async () => {
    await registering('once@example.com')
    for (const email of ['once@example.com', ' Once@Example.COM '])
      expect(
        await nobody.refused(register, { body: { name: 'X', email, password }, headers: fromElsewhere() }),
      ).toMatchObject({ status: 409, code: 'already_exists', field: 'email' })
  })

  test('of one address by two at once makes one person, whose password is the one that counts', async () => {
    const words = ['the password of the first', 'the password of the second']
    const answers = await Promise.all(
      words.map((word) =>
        nobody.api(
          'POST',
          '/auth/register',
          { name: word, email: 'race@example.com', password: word },
          fromElsewhere(),
        ),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
    for (const [index, { status }] of answers.entries()) {
      const { status: signedIn } = await signingIn('race@example.com', words[index])
      expect(signedIn).toBe(status === 201 ? 200 : 401)
    }
  })

  test.each([
    ['name', { name: ' ' }, 'Please enter your name.'],
    ['name', { name: undefined }, 'Please enter your name.'],
    ['email', { email: undefined }, 'Enter a valid email address.'],
    ['email', { email: 'pat' }, 'Enter a valid email address.'],
    ['email', { email: `${'x'.repeat(250)}@example.com` }, expect.any(String)],
    ['email', { email: 'a\u0000@example.com' }, expect.any(String)],
    ['password', { password: undefined }, 'Enter a password.'],
    ['password', { password: 7 }, 'Enter a password.'],
    ['password', { password: '1234567' }, 'A password must be 8 to 200 characters long.'],
    ['password', { password: '🚀'.repeat(7) }, 'A password must be 8 to 200 characters long.'],
    ['password', { password: 'x'.repeat(201) }, 'A password must be 8 to 200 characters long.'],
    [
      'password',
      { password: '1234567\u0000' },
      'The password contains characters that cannot be stored, such as NUL.',
    ],
    [
      'password',
      { password: '1234567\uD800' },
      'The password contains characters that cannot be stored, such as NUL.',
    ],
  ])('is refused by %s: %j', async (field, part, error) => {
    const body = { name: 'Pat', email: 'bad@example.com', password, ...part }
    const answer = await nobody.api('POST', '/auth/register', body, fromElsewhere())
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input', field, error } })
  })

  test('takes a password of eight characters as people count them, spaces at its ends and all', async () => {
    const word = ' 🚀🚀🚀🚀🚀🚀 '
    const email = 'rockets@example.com'
    await nobody.ask(register, { body: { name: 'X', email, password: word }, headers: fromElsewhere() })
    const [right, wrong] = await Promise.all([signingIn(email, word), signingIn(email, word.trim())])
    expect([right.status, wrong.status]).toEqual([200, 401])
  })
})

describe('signing in', () => {
  const signedIn = async (email: string) => {
    const answer = await signingIn(email)
    expect(answer.status).toBe(200)
    return login.answer.parse(answer.body)
  }

  // Holds contract 7.3.
  test('leads to the same person, in a session of its own, by the address in any form', async () => {
    const { user: person, token } = await registering('sam@example.com')
    const { iat = 0, exp = 0, sid } = decodeJwt(token)
    expect(exp - iat).toBe(7 * 86_400)
    const again = await signedIn('  Sam@EXAMPLE.com ')
    expect(again.user).toEqual(person)
    expect(decodeJwt(again.token)['sid']).not.toBe(sid)

    // The logout ends its own session alone.
    const other = product.personWith(again.token)
    await product.personWith(token).ask(logout)
    expect(await product.personWith(token).refused(getMe)).toMatchObject({
      status: 401,
      code: 'sign_in_required',
    })
    expect((await other.ask(getMe)).user.email).toBe('sam@example.com')

    // Another address in the profile is not one to sign in by, and free for somebody to register.
    await other.ask(updateProfile, { body: { email: 'new@example.com' } })
    expect((await signingIn('new@example.com')).status).toBe(401)
    expect((await signedIn('sam@example.com')).user.email).toBe('new@example.com')
    expect((await registering('new@example.com')).user.id).not.toBe(person.id)
  })

  test('with a wrong password answers as for an address that nobody has', async () => {
    const answers = await Promise.all([
      signingIn('sam@example.com', 'a wrong password'),
      signingIn('unknown@example.com', 'a wrong password'),
      signingIn('sam@example.com', 'x'),
    ])
    for (const { status, body } of answers) {
      expect(status).toBe(401)
      expect(body).toEqual({
        error: 'The email address or password is wrong.',
        code: 'wrong_password',
        requestId: expect.any(String),
      })
    }
  })

  test('never joins accounts by their address: one at the code host is another', async () => {
    const { user: person, token } = await registering('ada@example.com')
    const ada = await product.signIn('ada')
    const { user: other } = await ada.ask(getMe)
    expect(other).toMatchObject({ email: 'ada@example.com', githubUsername: 'ada' })
    expect(other.id).not.toBe(person.id)
    expect((await product.personWith(token).ask(getMe)).user).toEqual(person)
  })

  test('takes no Idempotency-Key, also of somebody who is signed in: each is a session', async () => {
    const { token } = await signedIn('sam@example.com')
    const headers = { 'idempotency-key': 'the same', authorization: `Bearer ${token}`, ...fromElsewhere() }
    const answers = await Promise.all([1, 2].map(() => signingIn('sam@example.com', password, headers)))
    const tokens = answers.map(({ body }) => login.answer.parse(body).token)
    expect(new Set(tokens).size).toBe(2)
    for (const one of tokens) expect((await product.personWith(one).api('GET', '/auth/me')).status).toBe(200)
  })

  test('works after a crash, for whoever was told that they are registered', async () => {
    const { user: person } = await registering('crash@example.com')
    await product.kill9()
    await product.restart()
    expect((await signedIn('crash@example.com')).user).toEqual(person)
  })
})

describe('where it is turned off', () => {
  const off = {
    status: 403,
    body: {
      code: 'password_sign_in_off',
      error: 'Signing in with a password is turned off on this server. Sign in with GitHub.',
    },
  }
  const github = { GITHUB_CLIENT_ID: 'Iv1.somewhere', GITHUB_CLIENT_SECRET: 'of no use here' }

  test.each([
    ['by the operator', { PASSWORD_SIGN_IN: '0' }],
    ['because GitHub is there', github],
  ])('%s, neither registering nor signing in is possible', async (_, env) => {
    const other = await startProduct({ env })
    try {
      const visitor = other.personWith(undefined)
      const body = { name: 'Pat', email: 'pat@example.com', password }
      expect(await visitor.api('POST', '/auth/register', body)).toMatchObject(off)
      expect(await visitor.api('POST', '/auth/login', body)).toMatchObject(off)
    } finally {
      await other.stop()
    }
  })

  test('the operator may turn it on beside GitHub', async () => {
    const other = await startProduct({ env: { ...github, PASSWORD_SIGN_IN: '1' } })
    try {
      const body = { name: 'Pat', email: 'pat@example.com', password }
      const { user: person } = await other.personWith(undefined).ask(register, { body })
      expect(person).toMatchObject({ name: 'Pat', githubConnected: false })
    } finally {
      await other.stop()
    }
  })
})
