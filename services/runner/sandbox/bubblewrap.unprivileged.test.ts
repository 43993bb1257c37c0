import { expect, test } from 'vitest'
import { describeBox } from './boxGuarantees.ts'
import { findTestBox } from './testBox.ts'

// This file has a process of its own, which is not root any more from here on.
if (process.getuid?.() === 0) {
  process.setgroups?.([])
  process.setgid?.(27_000)
  process.setuid?.(27_000)
}
const { sandbox, note } = await findTestBox()

test('this server is not root', () => expect(process.getuid?.()).not.toBe(0))

describeBox(`by bubblewrap, made by a user who is not root${note}`, sandbox)
