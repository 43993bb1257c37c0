import { expect, test } from 'vitest'
import { findTestSandbox } from '../../../tests/runner/testSandbox.ts'
import { describeEgress } from '../../../tests/runner/egress.contract.ts'

// This file runs in a process of its own, which gives up root here.
if (process.getuid?.() === 0) {
  process.setgroups?.([])
  process.setgid?.(27_000)
  process.setuid?.(27_000)
}

test('this server is not root', () => expect(process.getuid?.()).not.toBe(0))

describeEgress(await findTestSandbox())
