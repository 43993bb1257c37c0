/** Synchronous SHA-256 (FIPS 180-4), because the browser's own is asynchronous and the verifier hashes every event synchronously. */

/** The first 32 bits of the fractional parts of the given root of each of the first `count` primes. */
function constants(count: number, root: (prime: number) => number): Uint32Array {
  const found: number[] = []
  for (let number = 2; found.length < count; number += 1) {
    const isPrime = Array.from({ length: number - 2 }, (_, at) => at + 2).every((by) => number % by !== 0)
    if (isPrime) found.push(Math.floor((root(number) % 1) * 2 ** 32))
  }
  return Uint32Array.from(found)
}
const rounds = constants(64, Math.cbrt)
const start = constants(8, Math.sqrt)

const blockBytes = 64
const turned = (word: number, by: number) => (word >>> by) | (word << (32 - by))

export function sha256(bytes: Uint8Array): Uint8Array {
  const state = start.slice()
  const words = new Uint32Array(64)
  const whole = bytes.length - (bytes.length % blockBytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < whole; at += blockBytes) addBlock(state, words, view, at)
  const rest = bytes.length - whole
  const end = new Uint8Array(rest < blockBytes - 8 ? blockBytes : 2 * blockBytes)
  end.set(bytes.subarray(whole))
  end[rest] = 0x80
  const last = new DataView(end.buffer)
  last.setBigUint64(end.length - 8, BigInt(bytes.length) * 8n)
  for (let at = 0; at < end.length; at += blockBytes) addBlock(state, words, last, at)
  const hash = new DataView(new ArrayBuffer(32))
  state.forEach((word, index) => hash.setUint32(4 * index, word))
  return new Uint8Array(hash.buffer)
}

function addBlock(state: Uint32Array, words: Uint32Array, view: DataView, at: number): void {
  for (let index = 0; index < 16; index += 1) words[index] = view.getUint32(at + 4 * index)
  for (let index = 16; index < 64; index += 1) {
    const [early, late] = [words[index - 15] ?? 0, words[index - 2] ?? 0]
    const first = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)
    const second = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10)
    words[index] = (words[index - 16] ?? 0) + first + (words[index - 7] ?? 0) + second
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let index = 0; index < 64; index += 1) {
    const second = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
    const one = (h + second + ((e & f) ^ (~e & g)) + (rounds[index] ?? 0) + (words[index] ?? 0)) | 0
    const first = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
    const two = (first + ((a & b) ^ (a & c) ^ (b & c))) | 0
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0]
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] ?? 0) + word
}
