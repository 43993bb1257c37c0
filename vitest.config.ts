import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'domain/**/*.test.ts',
            'services/**/*.test.ts',
            'web/src/**/*.test.{ts,tsx}',
            'tests/{scripts,report}/**/*.spec.{js,ts}',
          ],
        },
      },
      {
        extends: true,
        test: { name: 'contracts', include: ['tests/contracts/**/*.spec.ts'], testTimeout: 20_000 },
      },
      {
        extends: true,
        test: {
          name: 'server',
          include: ['tests/server/**/*.spec.ts'],
          globalSetup: ['tests/product/build.js'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/e2e/**/*.spec.ts'],
          globalSetup: ['tests/product/build.js'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['tests/**/*.long.ts'],
          globalSetup: ['tests/product/build.js'],
          testTimeout: 1_800_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
