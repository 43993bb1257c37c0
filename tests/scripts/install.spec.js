/** When packages count as installed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { installPackages, isInstalled, packagesAreCurrent } from '../../scripts/install.js'

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

/** @param {Record<string, string>} dependencies */
function project(dependencies) {
  const root = mkdtempSync(join(tmpdir(), 'flightdeck-install-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const name = 'empty'
  const version = '1.0.0'
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name, version, dependencies }))
  const lock = { name, version, lockfileVersion: 3, requires: true, packages: { '': { name, version } } }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock))
  const env = { PATH: process.env.PATH, HOME: root, npm_config_update_notifier: 'false' }
  return { root, env }
}

test('what was installed is current, until the lock file changes', async () => {
  const { root, env } = project({})
  expect(packagesAreCurrent(root)).toBe(false)
  expect(await installPackages(root, env)).toBeUndefined()
  expect(packagesAreCurrent(root)).toBe(true)
  writeFileSync(
    join(root, 'package-lock.json'),
    JSON.stringify({ packages: { 'node_modules/new': { version: '1.0.0' } } }),
  )
  expect(packagesAreCurrent(root)).toBe(false)
}, 20_000)

test('packages whose stamp cannot be written are current all the same', () => {
  const { root } = project({})
  // Not even root can write a file in the place of a folder.
  mkdirSync(join(root, 'node_modules/.flightdeck-stamp'), { recursive: true })
  expect(packagesAreCurrent(root)).toBe(false)
  writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages: {} }))
  expect(packagesAreCurrent(root)).toBe(true)
})

test('an install that fails is told, and does not count as done', async () => {
  const { root, env } = project({ 'a-package-that-is-not-in-the-lock-file': '1.0.0' })
  const offline = { ...env, npm_config_offline: 'true' }
  expect(await installPackages(root, offline)).toMatch(
    /\nInstalling the packages failed: npm ci ended with exit code 1\.$/,
  )
  expect(packagesAreCurrent(root)).toBe(false)
}, 20_000)
