import { describe, expect, test } from 'vitest'
import { isTestCommand } from './runFacts.ts'

describe('commands that run tests', () => {
  test.each([
    'npm test',
    'npm run test -- --watch=false',
    'pnpm test',
    'cd web && yarn test',
    'npx vitest run src',
    'python -m pytest -q',
    'python3 -m unittest',
    'go test ./...',
    'cargo test --workspace',
    'cargo nextest run',
    './gradlew :app:test',
    'make -j4 check',
    'node --test',
  ])('%s', (command) => expect(isTestCommand(command)).toBe(true))

  test.each([
    'npm install',
    'ls test',
    'cat tests/a.py',
    'git checkout test',
    'go build ./...',
    'make',
    'echo latest',
  ])('not %s', (command) => expect(isTestCommand(command)).toBe(false))
})
