import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { seccompFilter, seccompProfile } from './systemCalls.ts'

test('finding 13: the profile of the runner in docker-compose.yml is made of the one list', async () => {
  const file = new URL('../../../deploy/runner.seccomp.json', import.meta.url)
  // When the list changes, the file must be replaced by the result of `seccompProfile('runner')`.
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(seccompProfile('runner'))
})

/** The answer of the kernel, by bpf(4): 'allowed', 'killed', or the number of an error. */
function answer(
  arch: 'x64' | 'arm64',
  audit: number,
  call: number,
  args: readonly number[] = [],
  memoryBy: 'kernel' | 'processes' = 'kernel',
): 'allowed' | 'killed' | number {
  const program = seccompFilter(arch, memoryBy) ?? Buffer.alloc(0)
  const data = new Map<number, number>([
    [0, call],
    [4, audit],
  ])
  for (const [index, value] of args.entries()) {
    data.set(16 + 8 * index, value % 2 ** 32)
    data.set(20 + 8 * index, Math.floor(value / 2 ** 32))
  }
  let held = 0
  for (let at = 0; at * 8 < program.length; at++) {
    const code = program.readUInt16LE(at * 8)
    const value = program.readUInt32LE(at * 8 + 4)
    const passOver = (is: boolean): number => program.readUInt8(at * 8 + (is ? 2 : 3))
    if (code === 0x20) held = data.get(value) ?? 0
    else if (code === 0x54) held = (held & value) >>> 0
    else if (code === 0x15) at += passOver(held === value)
    else if (code === 0x25) at += passOver(held > value)
    else if (value === 0x7fff_0000) return 'allowed'
    else return value === 0x8000_0000 ? 'killed' : value & 0xffff
  }
  throw new Error('the program has no end')
}

// Holds findings 1.39.
test.each([
  ['x64', 0xc000_003e, { unshare: 272, clone: 56, socket: 41, memfd: 319, ptrace: 101, keyctl: 250 }],
  ['arm64', 0xc000_00b7, { unshare: 97, clone: 220, socket: 198, memfd: 279, ptrace: 117, keyctl: 219 }],
] as const)('finding 13: the filter for %s refuses what leads out of a sandbox', (arch, audit, calls) => {
  expect(answer(arch, audit, calls.unshare)).toBe(1)
  expect(answer(arch, audit, calls.keyctl)).toBe(1)
  expect(answer(arch, audit, calls.clone, [0x1000_0011])).toBe(1)
  expect(answer(arch, audit, calls.clone, [0x0100_0011])).toBe('allowed')
  // clone3, and what is newer than the list.
  expect([435, 467, 500].map((call) => answer(arch, audit, call))).toEqual([38, 38, 38])
  expect(answer(arch, audit, calls.socket, [17])).toBe(1)
  expect(answer(arch, audit, calls.socket, [1])).toBe('allowed')
  expect([calls.memfd, calls.ptrace].map((call) => answer(arch, audit, call))).toEqual(['allowed', 'allowed'])
  // 32-bit programs, and x32.
  expect(answer(arch, 0x4000_0003, 1)).toBe('killed')
  expect(answer(arch, audit, 0x4000_0001)).toBe(38)
})

// Holds findings 1.47.
test.each([
  ['x64', 0xc000_003e, { clone: 56, memfd: 319, shmget: 29 }],
  ['arm64', 0xc000_00b7, { clone: 220, memfd: 279, shmget: 194 }],
] as const)('finding 13: the filter for %s leaves no memory where nobody counts it', (arch, audit, calls) => {
  // Threads as libraries make them, and one with open files of its own.
  expect(answer(arch, audit, calls.clone, [0x003d_0f00])).toBe('allowed')
  expect(answer(arch, audit, calls.clone, [0x003d_0b00])).toBe(1)
  expect([0, 2, 4].map((flags) => answer(arch, audit, 436, [3, 9, flags]))).toEqual(['allowed', 1, 'allowed'])

  const sizes = [0, 56, 65_536, 65_537, 2 ** 32, 2 ** 40 + 1]
  const segments = (by: 'kernel' | 'processes') =>
    sizes.map((size) => answer(arch, audit, calls.shmget, [0, size], by))
  expect(segments('processes')).toEqual(['allowed', 'allowed', 'allowed', 22, 22, 22])
  expect(new Set(segments('kernel'))).toEqual(new Set(['allowed']))
  const files = (by: 'kernel' | 'processes') =>
    [calls.memfd, 447].map((call) => answer(arch, audit, call, [], by))
  expect(files('processes')).toEqual([38, 38])
  expect(files('kernel')).toEqual(['allowed', 'allowed'])
  // What comes after a comparison in the program is still about the call.
  expect(answer(arch, audit, calls.shmget + 1, [0, 2 ** 40], 'processes')).toBe('allowed')
})

test.each([
  ['x64', 0xc000_003e, 285],
  ['arm64', 0xc000_00b7, 47],
] as const)(
  'security H2: the filter for %s lets no file take up space unwritten',
  (arch, audit, fallocate) => {
    const modes = { plain: 0, keepSize: 1, punchHole: 3, collapse: 8, zeroRange: 16, insert: 32 }
    const answers = Object.entries(modes).map(([name, mode]) => [
      name,
      answer(arch, audit, fallocate, [9, mode]),
    ])
    expect(Object.fromEntries(answers)).toEqual({
      plain: 95,
      keepSize: 95,
      punchHole: 'allowed',
      collapse: 95,
      zeroRange: 95,
      insert: 95,
    })
    expect(answer(arch, audit, fallocate + 1, [9, 0])).toBe('allowed')
  },
)

test.each([
  ['x64', 0xc000_003e, 16],
  ['arm64', 0xc000_00b7, 29],
] as const)(
  'security H2: the filter for %s lets nobody take files out of the quota of a workspace',
  (arch, audit, ioctl) => {
    const requests = {
      setProject: 0x401c_5820,
      setFlags: 0x4008_6602,
      clone: 0x4004_9409,
      getFlags: 0x8008_6601,
    }
    const answers = Object.entries(requests).map(([name, request]) => [
      name,
      answer(arch, audit, ioctl, [9, request]),
    ])
    expect(Object.fromEntries(answers)).toEqual({
      setProject: 95,
      setFlags: 95,
      clone: 'allowed',
      getFlags: 'allowed',
    })
    // The kernel reads 32 bits of the request.
    expect(answer(arch, audit, ioctl, [9, 2 ** 32 + 0x401c_5820])).toBe(95)
    // file_setattr.
    expect(answer(arch, audit, 469)).toBe(38)
  },
)

test('an architecture of which the numbers are not known has none', () => {
  expect(seccompFilter('riscv64', 'kernel')).toBeUndefined()
})
