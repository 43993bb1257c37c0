import * as fc from 'fast-check'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { automatonOf, maxNodes, TooMuchToHide } from '#platform/redaction/automaton.ts'
import { redactionOf, withheld } from './redaction.ts'
import { textThreads, startWorker, type TextThreads } from './textThreads.ts'
import { goOn, newScan, redacted, soughtFor } from '#platform/redaction/scan.ts'
import { naivelyRedacted } from '../../../tests/runner/redaction.ts'
import { diffWithout, textWithout } from '#platform/redaction/scan.ts'
import { randomRuns } from '../../../tests/longRun.ts'

const secret = 'r3ndezvous/Key+9=!'
const githubToken = `ghp_${'aB3dE6gH9'.repeat(4)}`
const pem = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEow/+0 9\n'.repeat(6)}-----END RSA PRIVATE KEY-----`
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLWl0'

const redact = (text: string, secrets: readonly string[]) => textWithout(soughtFor(secrets), text)
const diffRedactor = (secrets: readonly string[]) => (diff: string) => diffWithout(soughtFor(secrets), diff)

/** Redacts `text` in the pieces that `cuts` make of it. */
function redactInPieces(text: string, cuts: readonly number[], secrets: readonly string[]): string {
  const [sought, scan] = [soughtFor(secrets), newScan()]
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].sort(
    (a, b) => a - b,
  )
  let shown = ''
  for (const [i, edge] of edges.entries())
    shown += goOn(sought, scan, text.slice(edge, edges[i + 1] ?? edge), false)
  return shown + goOn(sought, scan, '', true)
}

describe('what is taken out', () => {
  test.each([
    ['a known secret', secret],
    ['a known secret, in hex', Buffer.from(secret).toString('hex')],
    ['a known secret, in hex with capitals', Buffer.from(secret).toString('hex').toUpperCase()],
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

  test('is redacted as one who judges every place by itself would', () => {
    fc.assert(
      fc.property(texts, cuts, (text, where) => {
        expect(redactInPieces(text, where, secrets)).toBe(naivelyRedacted(text, secrets))
      }),
      { numRuns: randomRuns(1_000) },
    )
  })

  test('of few different characters is redacted so too, for any secrets', () => {
    const narrow = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '👩', '\n', '\0'), maxLength: 60 })
    fc.assert(
      fc.property(fc.array(narrow, { maxLength: 6 }), narrow, cuts, (some, around, where) => {
        const text = [around, ...some.map((one) => one.slice(1) + one), around].join('')
        expect(redactInPieces(text, where, some)).toBe(naivelyRedacted(text, some))
      }),
      { numRuns: randomRuns(1_000) },
    )
  })

  test('is redacted as the whole would be', () => {
    fc.assert(
      fc.property(texts, cuts, (text, where) => {
        expect(redactInPieces(text, where, secrets)).toBe(redact(text, secrets))
      }),
      { numRuns: randomRuns(500) },
    )
  })

  test('never lets a known secret through', () => {
    fc.assert(
      fc.property(texts, cuts, (text, where) => {
        const shown = redactInPieces(text, where, secrets)
        for (const one of secrets) expect(shown).not.toContain(one)
        expect(shown).not.toContain(githubToken)
      }),
      { numRuns: randomRuns(500) },
    )
  })

  test('shows each character as soon as it cannot belong to a secret', () => {
    const [sought, scan] = [soughtFor([secret]), newScan()]
    expect(goOn(sought, scan, 'plain r3nd', false)).toBe('plain ')
    expect(goOn(sought, scan, 'ed', false)).toBe('r3nded')
    expect(goOn(sought, scan, '!', false)).toBe('!')
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

  test('names no secret', () => {
    const name = `b/${secret}.env`
    const text = `diff --git a/x ${name}\nsimilarity index 90%\nrename from x\n+++ ${name}\n@@ -1 +1 @@\n+plain\n`
    expect(diffRedactor([secret])(text)).toBe(text.replaceAll(secret, redacted))
  })

  test('is left as it is without a secret', () => {
    const text = 'diff --git a/x b/x\n@@ -0,0 +1 @@\n+@@ not a hunk @@\n+\n \n'
    expect(diffRedactor([secret])(text)).toBe(text)
    expect(diffRedactor([secret])('')).toBe('')
  })
})

describe('what it costs', () => {
  const many = (length: number, count: number) =>
    Array.from({ length: count }, (_, at) => 'a'.repeat(length - 2) + String(at).padStart(2, '0'))
  const inPieces = (text: string, length: number) =>
    Array.from({ length: Math.ceil(text.length / length) }, (_, at) =>
      text.slice(at * length, (at + 1) * length),
    )

  test.each([
    ['eyJ again and again', ['eyJ'], []],
    ['the beginning of a key block again and again', ['-----BEGIN '], []],
    ['one letter, which the longest secret that may be is made of', ['a'], ['a'.repeat(8_192)]],
    ['one letter, and sixteen such secrets', ['a'], many(8_192, 16)],
    ['sixteen secrets, but for their ends', many(8_192, 16).map((one) => one.slice(0, -1)), many(8_192, 16)],
    ['one letter, and 64 secrets', ['a'], many(2_048, 64)],
  ] as const)('finding 3: grows no faster than the text: %s', (_, units, secrets) => {
    const sought = soughtFor(secrets)
    const unit = units.join('')
    const text = unit.repeat(Math.ceil(400_000 / unit.length))
    for (const pieceLength of [1_000, 64_000]) {
      const scan = newScan()
      let longestHeld = 0
      for (const piece of inPieces(text, pieceLength)) {
        goOn(sought, scan, piece, false)
        longestHeld = Math.max(longestHeld, scan.held.length)
      }
      // A move forward for each character, and at most as many back.
      expect(scan.steps).toBeLessThanOrEqual(2 * text.length)
      expect(longestHeld).toBeLessThanOrEqual(8_192 * 3 + 1_100)
    }
  })

  test('finding 3: is bounded in memory: more than an automaton holds is refused before it is built', () => {
    const text = 'x'.repeat(200_000)
    const words = Array.from({ length: maxNodes / text.length + 1 }, () => ({ text, mark: 0 }))
    expect(() => automatonOf(words)).toThrow(TooMuchToHide)
  })
})

describe('in threads', () => {
  const long = `${'no secret here; '.repeat(4_000)}${secret}${'eyJ'.repeat(9_000)}`
  const expected = redact(long, [secret])

  async function withThreads(threads: TextThreads, use: (threads: TextThreads) => Promise<void>) {
    try {
      await use(threads)
    } finally {
      await threads.close()
    }
  }

  test('long pieces come out in their order among short ones', () =>
    withThreads(textThreads(), async (threads) => {
      const redaction = redactionOf([secret], threads)
      const stream = redaction.stream()
      const pieces = ['short ', long, secret.slice(0, 5), secret.slice(5), long, ' end']
      const shown = await Promise.all([...pieces.map((piece) => stream.push(piece)), stream.end()])
      expect(shown.join('')).toBe(redact(pieces.join(''), [secret]))
      expect(await redaction.text(long)).toBe(expected)
      const diff = `diff --git a/x b/x\n@@ -0,0 +1 @@\n+${long}\n`
      expect(await redaction.diff(diff)).toBe(diffRedactor([secret])(diff))
    }))

  test('many secrets are made ready there, and what is printed meanwhile waits', () =>
    withThreads(textThreads(), async (threads) => {
      const secrets = Array.from({ length: 64 }, (_, at) => `${at}-${'s3cret '.repeat(200)}${at}`)
      const stream = redactionOf(secrets, threads).stream()
      const pieces = ['before ', ...secrets, ' after']
      const shown = await Promise.all([...pieces.map((piece) => stream.push(piece)), stream.end()])
      expect(shown.join('')).toBe(`before ${redacted} after`)
    }))

  test('a thread that ends is replaced, and its work done by another', async () => {
    let begun = 0
    const threads = textThreads({
      most: 1,
      start: () => {
        begun += 1
        return begun === 1 ? endingThread() : startWorker()
      },
    })
    await withThreads(threads, async () => {
      expect(await redactionOf([secret], threads).text(long)).toBe(expected)
      expect(begun).toBe(2)
    })
  })

  test('what cannot be looked through is withheld, and all that follows of its stream', () =>
    withThreads(textThreads({ start: endingThread }), async (threads) => {
      const redaction = redactionOf([secret], threads)
      const stream = redaction.stream()
      const pieces = ['shown ', secret.slice(0, 9), long, secret.slice(9), ' more']
      const shown = await Promise.all([...pieces.map((piece) => stream.push(piece)), stream.end()])
      expect(shown.join('')).toBe(`shown ${withheld}`)
      expect(await redaction.text(long)).toBe(withheld)
      expect(await redaction.diff(long)).toBe(withheld)
    }))

  test('nothing is shown once they are closed', async () => {
    const threads = textThreads()
    const stream = redactionOf([secret], threads).stream()
    const shown = stream.push(long)
    await threads.close()
    expect(await shown).toBe(withheld)
    expect(await redactionOf([secret], threads).text(long)).toBe(withheld)
  })
})

/** Ends over whatever is asked of it. */
const endingThread = () =>
  new Worker(`require('node:worker_threads').parentPort.on('message', () => process.exit(1))`, { eval: true })
