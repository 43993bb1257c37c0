/** What `npm start` reports about the programs it finds. */
import { expect, test } from 'vitest'
import { faultOfGit, faultOfNode, limitationOfGit } from '../../scripts/versions.js'

test.each(['20.19.0', '20.20.2', '22.0.0', '24.21.0'])('Node %s will do', (version) => {
  expect(faultOfNode(version)).toBeUndefined()
})

test.each(['18.20.4', '20.18.3'])('Node %s is too old, and the sentence names both versions', (version) => {
  expect(faultOfNode(version)).toMatch(`Node 20.19 or later; this is ${version}`)
})

test('without git, the sentence says where to get it', () => {
  expect(faultOfGit(undefined)).toMatch('https://git-scm.com/downloads')
})

test('an old git is told of, and is no fault', () => {
  expect(faultOfGit('git version 2.34.1')).toBeUndefined()
  expect(limitationOfGit('git version 2.34.1')).toMatch('git 2.34.1')
  expect(limitationOfGit('git version 2.39.5 (Apple Git-154)')).toBeUndefined()
})
