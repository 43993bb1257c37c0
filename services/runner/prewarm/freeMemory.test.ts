import { expect, test } from 'vitest'
import { freeMemory } from './freeMemory.ts'

const MB = 1024 ** 2
const meminfo = 'MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    8192 kB\n'
const reader =
  (files: Readonly<Record<string, string>>) =>
  async (path: string): Promise<string | undefined> =>
    files[path]

test('is what the kernel says is available, and not what is unused', async () => {
  expect(await freeMemory(reader({ '/proc/meminfo': meminfo }))).toBe(8 * MB)
})

test.each([
  {
    cgroups: 'version 2',
    files: {
      '/proc/self/cgroup': '0::/flightdeck\n',
      '/sys/fs/cgroup/flightdeck/memory.max': `${6 * MB}\n`,
      '/sys/fs/cgroup/flightdeck/memory.current': `${5 * MB}\n`,
      '/sys/fs/cgroup/flightdeck/memory.stat': `anon 1\ninactive_file ${2 * MB}\nactive_file 7\n`,
    },
  },
  {
    cgroups: 'version 2, of a parent',
    files: {
      '/proc/self/cgroup': '0::/slice/flightdeck\n',
      '/sys/fs/cgroup/slice/flightdeck/memory.max': 'max\n',
      '/sys/fs/cgroup/slice/flightdeck/memory.current': `${5 * MB}\n`,
      '/sys/fs/cgroup/slice/memory.max': `${6 * MB}\n`,
      '/sys/fs/cgroup/slice/memory.current': `${3 * MB}\n`,
    },
  },
  {
    cgroups: 'version 1, seen from within a container',
    files: {
      '/proc/self/cgroup': '5:cpu:/docker/1\n4:memory:/docker/1\n0::/\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${6 * MB}\n`,
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': `${4 * MB}\n`,
      '/sys/fs/cgroup/memory/memory.stat': `inactive_file 1\ntotal_inactive_file ${1 * MB}\n`,
    },
  },
])('is what the control group has left, where that is less: cgroups $cgroups', async ({ files }) => {
  expect(await freeMemory(reader({ '/proc/meminfo': meminfo, ...files }))).toBe(3 * MB)
})

test('is none where a control group is over its limit, and is not less for one without a limit', async () => {
  const group = (max: string, current: number) => ({
    '/proc/meminfo': meminfo,
    '/proc/self/cgroup': '0::/\n',
    '/sys/fs/cgroup/memory.max': max,
    '/sys/fs/cgroup/memory.current': String(current),
  })
  expect(await freeMemory(reader(group(String(MB), 2 * MB)))).toBe(0)
  expect(await freeMemory(reader(group('max', 2 * MB)))).toBe(8 * MB)
})

test('is known on this machine', async () => {
  expect(await freeMemory()).toBeGreaterThan(0)
})
