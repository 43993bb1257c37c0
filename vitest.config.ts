import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './tests/longestFirst.ts'
import { patienceMs, testTimeoutMs } from './tests/patience.ts'

// Most tests wait as long as they compute: four files at a time on two cores, where vitest would take one.
const workers = availableParallelism() + 2
/** Tests of what runs outside of Node: git, sandboxes, the agents' programs, and engines' servers. They say little of the version of Node. */
const outside = [
  'services/runner/{workspace,sandbox}/**/*.test.ts',
  'services/runner/egress/sandboxEgress*.test.ts',
  'services/runner/agents/{acp,claude,codex}/cli*.test.ts',
  'tests/contracts/codeHost*.spec.ts',
  'tests/contracts/*.{nats,mongodb,eventStoreDb}.spec.ts',
  'tests/contracts/{nats,mongo}Connection.spec.ts',
]

/** They stop being root, so that each needs a process of its own. */
const unprivileged = 'services/**/*.unprivileged.test.ts'

// Most tests are not isolated: no module keeps state, so that no file can leave anything to the next, and each is loaded once.
export default defineConfig({
  test: {
    maxWorkers: workers,
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
    // Most of what is polled costs processor time, and waiting costs none.
    expect: { poll: { timeout: patienceMs, interval: 200 } },
    // Processes that end soon spend less on collecting garbage with more room for it and one thread.
    execArgv: ['--max-semi-space-size=64', '--single-threaded-gc'],
    setupFiles: [fileURLToPath(new URL('tests/patient.setup.ts', import.meta.url))],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit-domain',
          include: ['domain/**/*.test.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          isolate: false,
          include: ['services/**/*.test.ts', 'tests/{scripts,report,deploy}/**/*.spec.{js,ts}'],
          exclude: [...configDefaults.exclude, ...outside],
        },
      },
      {
        extends: true,
        // What runs in browsers says little of the version of Node.
        test: {
          name: 'unit-web',
          isolate: false,
          include: ['web/src/**/*.test.{ts,tsx}'],
        },
      },
      {
        extends: true,
        test: {
          name: 'contracts',
          isolate: false,
          include: ['tests/contracts/**/*.spec.ts'],
          exclude: [...configDefaults.exclude, ...outside],
        },
      },
      {
        extends: true,
        test: {
          name: 'outside',
          isolate: false,
          include: outside,
          exclude: [...configDefaults.exclude, unprivileged],
        },
      },
      {
        extends: true,
        test: {
          name: 'unprivileged',
          include: [unprivileged],
        },
      },
      {
        extends: true,
        test: {
          name: 'server',
          isolate: false,
          sequence: { groupOrder: 1 },
          include: ['tests/{server,hostile}/**/*.spec.ts'],
          globalSetup: ['tests/product/build.js'],
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          isolate: false,
          sequence: { groupOrder: 1 },
          include: ['tests/e2e/**/*.spec.ts'],
          globalSetup: ['tests/product/build.js'],
        },
      },
      {
        extends: true,
        test: {
          name: 'containers',
          include: ['tests/containers/**/*.spec.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          sequence: { groupOrder: 2 },
          include: ['tests/long/**/*.spec.ts'],
          globalSetup: ['tests/product/build.js'],
          testTimeout: 1_800_000,
          // They start several processes each: with more at a time, some would not be ready in time.
          maxWorkers: 2,
        },
      },
    ],
  },
})
