import { describe, expect, test } from 'vitest'
import { hostsIn, type Format } from './suggestedHosts.ts'

describe('the hosts of package managers are read', () => {
  test.each<[Format, string, readonly string[]]>([
    [
      'npmrc',
      'registry=https://npm.example/\n@team:registry = https://user:secret@team.example:8443/npm/\n//npm.example/:_authToken=abc\n# registry=https://no.example\n',
      ['npm.example', 'team.example:8443'],
    ],
    [
      'npmLock',
      '{"a":{"resolved":"https://npm.example/a.tgz"},"b":{"resolved":"file:../b"}}',
      ['npm.example'],
    ],
    ['yarnrc', 'npmRegistryServer: "https://yarn.example"\n', ['yarn.example']],
    ['yarnLock', 'a@1:\n  resolved "https://yarn.example/a.tgz#abc"\n', ['yarn.example']],
    [
      'pip',
      '[global]\nindex-url = https://pip.example/simple\nextra-index-url =\n    https://one.example/simple\n    https://two.example/simple\ntimeout = 60\n',
      ['pip.example', 'one.example', 'two.example'],
    ],
    ['requirements', '--extra-index-url https://pip.example/simple\nflask==3.0\n', ['pip.example']],
    ['uvLock', 'source = { registry = "https://pip.example/simple" }\n', ['pip.example']],
    [
      'cargo',
      '[source.mirror]\nregistry = "sparse+https://cargo.example/index/"\n[registries]\nindex = "https://other.example/git"\n',
      ['cargo.example', 'other.example'],
    ],
    ['cargo', 'source = "registry+https://cargo.example/index"\n', ['cargo.example']],
    ['maven', '<mirror><url>https://maven.example/all</url></mirror>', ['maven.example']],
    [
      'maven',
      '<!-- | <url>https://an.example/of/use</url> --><url>https://maven.example/</url><!-- <url>https://open.example/</url>',
      ['maven.example'],
    ],
    ['gems', "source 'https://gems.example'\ngem 'rake'\n", ['gems.example']],
    ['gems', 'GEM\n  remote: https://gems.example/\n', ['gems.example']],
  ])('from %s: %j', (format, text, hosts) => expect(hostsIn(format, text)).toEqual(hosts))

  test.each([
    'registry=http://localhost:4873/',
    'registry=http://127.0.0.1/',
    'registry=http://10.0.0.7/',
    'registry=http://[::1]/',
    'registry=${REGISTRY}',
    'registry=ftp://a.example/',
    'registry=https://a%00b/',
  ])('but not from %s', (text) => expect(hostsIn('npmrc', text)).toEqual([]))

  test('and of very many only some', () => {
    const lock = Array.from({ length: 100 }, (_, n) => `"resolved": "https://n${n}.example/"`).join('\n')
    expect(hostsIn('npmLock', lock)).toHaveLength(20)
  })
})
