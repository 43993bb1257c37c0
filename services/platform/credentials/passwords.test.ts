/** Hashes of passwords: what they protect, what they cost, and how many are computed at once. */
import { describe, expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { passwords, type Hashing } from './passwords.ts'

const cheap = { ln: 4, r: 8, p: 1 }
const some = hashing({ cost: cheap })

/** Hashes and compares passwords, each in its own call of `limited`. */
function hashing(options?: Parameters<typeof passwords>[0]): Hashing {
  const { limited } = passwords(options)
  return {
    hash: (password) => limited(({ hash }) => hash(password)),
    matches: (password, kept) => limited(({ matches }) => matches(password, kept)),
  }
}

describe('a hash', () => {
  test('matches its own password and no other', async () => {
    const hash = await some.hash('correct horse')
    expect(await some.matches('correct horse', hash)).toBe(true)
    for (const other of ['', 'correct horse ', 'Correct horse', 'correct hors'])
      expect(await some.matches(other, hash)).toBe(false)
  })

  test('is of a fresh salt each time, and shows nothing of the password', async () => {
    const [one, other] = await Promise.all([some.hash('correct horse'), some.hash('correct horse')])
    expect(one).not.toBe(other)
    expect(one).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(one).not.toContain('horse')
  })

  test('is the same for the same characters, however they are composed', async () => {
    expect(await some.matches('cafe\u0301 au lait', await some.hash('caf\u00E9 au lait'))).toBe(true)
  })

  test('still counts when what a hash costs has grown', async () => {
    const hash = await some.hash('correct horse')
    const later = hashing({ cost: { ln: 5, r: 8, p: 2 } })
    expect(await later.matches('correct horse', hash)).toBe(true)
    expect(await later.matches('other', hash)).toBe(false)
    expect(await later.hash('correct horse')).toMatch(/^\$scrypt\$ln=5,r=8,p=2\$/)
  })

  test('of no known form is a defect, not a wrong password', async () => {
    for (const hash of ['', 'plain', '$scrypt$ln=4,r=8$a$b', '$argon2id$ln=4,r=8,p=1$a$b'])
      await expect(some.matches('correct horse', hash)).rejects.toThrow('in no known form')
  })
})

test('nobody’s hash matches nothing', async () => {
  expect(await some.matches('', undefined)).toBe(false)
  expect(await some.matches('correct horse', undefined)).toBe(false)
})

test('without a word said, a hash costs 2^17 rounds of 8 blocks, in memory that scrypt is allowed', async () => {
  const usual = hashing()
  const hash = await usual.hash('correct horse')
  expect(hash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/)
  expect(await usual.matches('correct horse', hash)).toBe(true)
})

describe('many at once', () => {
  test('are made in the order they came, and whoever finds the line full is told when to come again', async () => {
    const few = hashing({ cost: { ln: 10, r: 8, p: 1 }, atOnce: 2, waiting: 3 })
    const done: number[] = []
    const asked = Array.from({ length: 7 }, (_, n) => few.hash(`password ${n}`).then(() => done.push(n)))
    const outcomes = await Promise.allSettled(asked)
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 5 }, () => 'fulfilled'),
      'rejected',
      'rejected',
    ])
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    for (const fault of refused) {
      expect(fault).toBeInstanceOf(Fault)
      expect(fault).toMatchObject({ code: 'rate_limited', details: { retryAfterSeconds: 5 } })
    }
    expect(done.toSorted()).toEqual([0, 1, 2, 3, 4])
    // The queue has room again.
    expect(await few.hash('later')).toMatch(/^\$scrypt/)
  })

  test('one that fails makes room for the next', async () => {
    const one = hashing({ cost: cheap, atOnce: 1, waiting: 1 })
    await expect(one.matches('x', 'broken')).rejects.toThrow('in no known form')
    expect(await one.matches('x', await one.hash('x'))).toBe(true)
  })
})
