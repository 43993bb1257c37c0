/** When packages are taken as installed. */
import { expect, test } from 'vitest'
import { isInstalled } from '../../scripts/install.js'

const wanted = {
  packages: {
    '': { version: '0.1.0' },
    'node_modules/koa': { version: '3.3.0' },
    'node_modules/agent-for-another-platform': { version: '1.0.0', optional: true },
  },
}

test('an optional package may be missing: it is for another platform', () => {
  expect(isInstalled(wanted, { packages: { 'node_modules/koa': { version: '3.3.0' } } })).toBe(true)
})

test('a package of another version is not what was asked for', () => {
  expect(isInstalled(wanted, { packages: { 'node_modules/koa': { version: '3.2.0' } } })).toBe(false)
})

test('a missing package is not what was asked for', () => {
  expect(isInstalled(wanted, { packages: {} })).toBe(false)
})
