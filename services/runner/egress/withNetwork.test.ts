/** The variables of a sandbox: those of the project, and those with which its programs find the way out. */
import { expect, test } from 'vitest'
import { withNetwork } from './sandboxEgress.ts'

const network = { HTTPS_PROXY: 'http://127.0.0.1:1', MAVEN_OPTS: '-Dhttps.proxyPort=1' }

test("the way out counts more than the project's variables", () => {
  expect(withNetwork({ HTTPS_PROXY: 'http://elsewhere', STAGE: 'test' }, network)).toEqual({
    ...network,
    STAGE: 'test',
  })
})

test("options of Java's build tools are added to the project's own", () => {
  expect(withNetwork({ MAVEN_OPTS: '-Xmx1g', GRADLE_OPTS: '-Xmx2g' }, network)).toEqual({
    ...network,
    MAVEN_OPTS: '-Xmx1g -Dhttps.proxyPort=1',
    GRADLE_OPTS: '-Xmx2g',
  })
})
