/** Passwords, stored as scrypt hashes that include their parameters, so that the cost can be increased later. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { limitConcurrency } from '../async/queue.ts'

/** The cost of a hash: about `128 * 2^ln * r` bytes of memory, computed `p` times. */
export interface ScryptCost {
  readonly ln: number
  readonly r: number
  readonly p: number
}

/** The operations that are available while work runs in `limited`. */
export interface Hashing {
  /** Returns the hash of a password with a new salt, as `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`. */
  hash(password: string): Promise<string>
  /** Whether the hash belongs to this password. Without a hash, does the same work and returns false. */
  matches(password: string, hash: string | undefined): Promise<boolean>
}

export interface Passwords {
  /** Runs `work`, which may hash. Only a few pieces of work run at once, in order. Throws `rate_limited` when too many wait. */
  limited<T>(work: (hashing: Hashing) => Promise<T>): Promise<T>
}

const usualCost: ScryptCost = { ln: 17, r: 8, p: 1 }
const saltBytes = 16
const hashBytes = 32
const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/
const waitAgainSeconds = 5

/** Hashes at most `atOnce` passwords at a time, each with 128 MiB and some tenths of a second; up to `waiting` more may wait. */
export function passwords({ cost = usualCost, atOnce = 2, waiting = 60 } = {}): Passwords {
  const limited = limitConcurrency(atOnce, (inLine) => {
    if (inLine < waiting) return
    throw new Fault('rate_limited', 'Too many people are signing in. Wait a moment.', undefined, {
      retryAfterSeconds: waitAgainSeconds,
    })
  })
  const hashing: Hashing = {
    async hash(password) {
      const salt = randomBytes(saltBytes)
      return encoded(cost, salt, await derived(password, salt, cost, hashBytes))
    },
    async matches(password, hash) {
      if (hash === undefined) {
        await derived(password, randomBytes(saltBytes), cost, hashBytes)
        return false
      }
      const kept = decoded(hash)
      return timingSafeEqual(await derived(password, kept.salt, kept.cost, kept.hash.length), kept.hash)
    },
  }
  return { limited: (work) => limited(() => work(hashing)) }
}

function derived(password: string, salt: Uint8Array, cost: ScryptCost, length: number): Promise<Buffer> {
  const { ln, r, p } = cost
  const N = 2 ** ln
  // scrypt needs `128 * N * r` bytes. The limit is twice that, because Node counts other memory too.
  const options = { N, r, p, maxmem: 256 * N * r }
  return new Promise((resolve, reject) => {
    // The password is normalized, so that the same characters match in whatever way the keyboard composed them.
    scrypt(password.normalize('NFC'), salt, length, options, (fault, key) =>
      fault === null ? resolve(key) : reject(fault),
    )
  })
}

function encoded({ ln, r, p }: ScryptCost, salt: Buffer, hash: Buffer): string {
  const [shownSalt, shownHash] = [salt, hash].map((bytes) => bytes.toString('base64').replace(/=+$/, ''))
  return `$scrypt$ln=${ln},r=${r},p=${p}$${shownSalt}$${shownHash}`
}

function decoded(hash: string): { cost: ScryptCost; salt: Buffer; hash: Buffer } {
  const [, ln, r, p, salt = '', digest = ''] = form.exec(hash) ?? []
  if (ln === undefined) throw new Error('The hash of a password is in no known form.')
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(digest, 'base64'),
  }
}
