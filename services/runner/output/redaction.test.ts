import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor, diffRedactor, redact, redacted } from './redaction.ts'

const secret = 'r3ndezvous/Key+9=!'
const githubToken = `ghp_${'aB3dE6gH9'.repeat(4)}`
const pem = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEow/+0 9\n'.repeat(6)}-----END RSA PRIVATE KEY-----`
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLWl0'

/** Redacts `text` in the pieces that `cuts` make of it. */
function redactInPieces(text: string, cuts: readonly number[], secrets: readonly string[]): string {
  const redactor = createRedactor(secrets)
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].sort(
    (a, b) => a - b,
  )
  let shown = ''
  for (const [i, edge] of edges.entries()) shown += redactor.push(text.slice(edge, edges[i + 1] ?? edge))
  return shown + redactor.end()
}

describe('what is taken out', () => {
  test.each([
    ['a known secret', secret],
    ['a known secret, URL-encoded', encodeURIComponent(secret)],
    [
      'a known secret, URL-encoded in lower case',
      encodeURIComponent(secret).toLowerCase().replace('key', 'Key'),
    ],
    ["GitHub's classic token", githubToken],
    ["GitHub's installation token", `ghs_${'x'.repeat(36)}`],
    ["GitHub's fine-grained token", `github_pat_${'11ABCDEFG0'.repeat(3)}_${'z'.repeat(59)}`],
    ["Anthropic's key", `sk-ant-api03-${'Ab-9_'.repeat(19)}AA`],
    ["AWS's key id", 'AKIAIOSFODNN7EXAMPLE'],
    ['a signed web token', jwt],
    ['a private key', pem],
    ['a private key on one line', pem.replaceAll('\n', String.raw`\n`)],
  ])('%s', (_, text) => {
    expect(redact(`before ${text} after`, [secret])).toBe(`before ${redacted} after`)
  })

  test('a known secret in base64, wherever it stands in what was encoded', () => {
    for (const before of ['', 'u', 'us', 'user:', 'x-access-token:']) {
      for (const after of ['', '!', '!!', '@host']) {
        const encoded = Buffer.from(before + secret + after).toString('base64')
        const shown = redact(`Basic ${encoded}\n`, [secret])
        expect(shown).toContain(redacted)
        const left = Buffer.from(shown.replace('Basic ', '').split(redacted).join(''), 'base64').toString()
        expect(left).not.toContain(secret.slice(2, -2))
      }
    }
  })

  test('a known secret as JSON writes it', () => {
    const quoted = 'line one\nline "two"'
    expect(redact(JSON.stringify({ key: quoted }), [quoted])).toBe(`{"key":"${redacted}"}`)
  })

  test('the whole of two secrets that overlap', () => {
    expect(redact('>>abcdefgh1234zzzz<<', ['abcdefgh1234', 'gh1234zzzz'])).toBe(`>>${redacted}<<`)
  })

  test('the whole of a secret that goes on after a token it follows', () => {
    const follower = 'tail!of!it'
    expect(redact(`${githubToken}${follower}.`, [follower])).toBe(`${redacted}.`)
  })

  test('a private key that holds what looks like another token goes on to its end', () => {
    const odd = pem.replace('MIIEow', 'AKIAIOSFODNN7EXAMPLE')
    expect(redact(`${odd}.`, [])).toBe(`${redacted}.`)
  })

  test('the greater part of a secret at which the output broke off', () => {
    expect(redact(`key=${secret.slice(0, -1)}`, [secret])).toBe(`key=${redacted}`)
  })
})

describe('what is left', () => {
  test.each([
    'gh pr list, ghp_ and ghp_short, sk-ant-what, AKIA, eyJust words. eyJhbGciOi.x',
    '----- ----------\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
    'naïve 日本語 👩‍🚀 \u001b[32mok\u001b[0m',
    'short',
  ])('%j', (text) => {
    expect(redact(text, [secret, 'short', ''])).toBe(text)
  })

  test('everything after a key block that never ends, beyond 64 KiB', () => {
    const shown = redact(`-----BEGIN PRIVATE KEY-----${'x '.repeat(40_000)}the end`, [])
    expect(shown.startsWith(redacted)).toBe(true)
    expect(shown.endsWith('the end')).toBe(true)
  })
})

describe('a cut stream', () => {
  const secrets = [secret, 'aaaaaaab', 'aaaabaaaab', 'p4ss-w0rd-with-%-sign', `${'k'.repeat(300)}!`]
  const parts = [
    ...secrets,
    ...secrets.map((part) => Buffer.from(`u:${part}`).toString('base64')),
    ...secrets.map(encodeURIComponent),
    githubToken,
    pem,
    jwt,
    'ghp_',
    'a',
    'aaaa',
    '-----',
    '-----BEGIN ',
    'PRIVATE KEY-----',
    '-----END ',
    'eyJ',
    '.',
    ' ',
    '\n',
    '日本',
    '👩‍🚀',
  ]
  const texts = fc
    .array(fc.oneof(fc.constantFrom(...parts), fc.string({ maxLength: 6 })), { maxLength: 12 })
    .map((some) => some.join(''))
  const cuts = fc.array(fc.nat({ max: 3000 }), { maxLength: 12 })

  test('is redacted as the whole would be', () => {
    fc.assert(
      fc.property(texts, cuts, (text, where) => {
        expect(redactInPieces(text, where, secrets)).toBe(redact(text, secrets))
      }),
      { numRuns: 500 },
    )
  })

  test('never lets a known secret through', () => {
    fc.assert(
      fc.property(texts, cuts, (text, where) => {
        const shown = redactInPieces(text, where, secrets)
        for (const one of secrets) expect(shown).not.toContain(one)
        expect(shown).not.toContain(githubToken)
      }),
      { numRuns: 500 },
    )
  })

  test('shows each character as soon as it cannot belong to a secret', () => {
    const redactor = createRedactor([secret])
    expect(redactor.push('plain r3nd')).toBe('plain ')
    expect(redactor.push('ed')).toBe('r3nded')
    expect(redactor.push('!')).toBe('!')
  })
})

describe('a diff', () => {
  const lines = [
    'diff --git a/.env b/.env',
    'index 1111111..2222222 100644',
    '--- a/.env',
    '+++ b/.env',
    `@@ -1,3 +1,5 @@ export TOKEN=${secret}`,
    ' plain',
    `-old=${secret}`,
    `+new=${secret};`,
    ...pem.split('\n').map((line) => `+${line}`),
    '+after',
    '@@ -90,2 +99,2 @@',
    `-${pem.split('\n').slice(0, 2).join('\n-')}`,
    '@@ -190,1 +199,1 @@',
    '+the end',
    '\\ No newline at end of file',
    '',
  ]

  test('keeps its lines and their marks', () => {
    expect(diffRedactor([secret])(lines.join('\n')).split('\n')).toEqual([
      ...lines.slice(0, 4),
      `@@ -1,3 +1,5 @@ export TOKEN=${redacted}`,
      ' plain',
      `-old=${redacted}`,
      `+new=${redacted};`,
      ...pem.split('\n').map(() => `+${redacted}`),
      '+after',
      '@@ -90,2 +99,2 @@',
      `-${redacted}`,
      `-${redacted}`,
      '@@ -190,1 +199,1 @@',
      '+the end',
      '\\ No newline at end of file',
      '',
    ])
  })

  test('is left as it is without a secret', () => {
    const text = 'diff --git a/x b/x\n@@ -0,0 +1 @@\n+@@ not a hunk @@\n+\n \n'
    expect(diffRedactor([secret])(text)).toBe(text)
    expect(diffRedactor([secret])('')).toBe('')
  })
})
