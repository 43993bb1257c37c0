/** A sandbox can reach only the listed hosts, and no listed name leads into the server's own network. */
import { syncBuiltinESMExports } from 'node:module'
import os, { networkInterfaces } from 'node:os'
import { describe, expect, test, vi } from 'vitest'
import { reachOf } from '#platform/http/addressReach.ts'
import {
  hostAndPort,
  mayConnect,
  ruleOf,
  ruleOfProject,
  ruleOfUrl,
  rulesFor,
  type Rule,
} from './egressRules.ts'

const listed = (...hosts: string[]): readonly Rule[] =>
  hosts.map((host) => ruleOf(host, { mayBeInside: false }))
const allows = (rules: readonly Rule[], host: string, port = 443): boolean =>
  rulesFor(rules, host, port).length > 0

describe('an address', () => {
  test.each(['8.8.8.8', '93.184.215.14', '2606:4700::1111', '172.15.255.255', '172.32.0.1'])(
    '%s is public',
    (address) => expect(reachOf(address)).toBe('public'),
  )
  test.each([
    '127.0.0.1',
    '127.8.8.8',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '::1',
    'fd00::1',
    '::ffff:127.0.0.1',
  ])('%s is inside', (address) => expect(reachOf(address)).toBe('inside'))
  test.each([
    '169.254.169.254',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '192.88.99.1',
    '::',
    'fe80::1',
    'ff02::1',
    '::ffff:8.8.8.8',
    '::ffff:169.254.169.254',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    'example.org',
    '',
  ])('%s leads nowhere', (address) => expect(reachOf(address)).toBe('nowhere'))
})

describe('a rule', () => {
  test('is for one host, on the usual ports', () => {
    const rules = listed('Example.org')
    expect(allows(rules, 'example.org')).toBe(true)
    expect(allows(rules, 'example.org', 80)).toBe(true)
    expect(allows(rules, 'example.org', 22)).toBe(false)
    expect(allows(rules, 'www.example.org')).toBe(false)
    expect(allows(rules, 'example.org.evil.example')).toBe(false)
    expect(allows(rules, 'badexample.org')).toBe(false)
  })
  test('with a star is for what is below, and not for the name itself', () => {
    const rules = listed('*.example.org')
    expect(allows(rules, 'a.example.org')).toBe(true)
    expect(allows(rules, 'a.b.example.org')).toBe(true)
    expect(allows(rules, 'example.org')).toBe(false)
    expect(allows(rules, 'badexample.org')).toBe(false)
  })
  test('with a star is for no address in numbers', () => {
    expect(allows(listed('*.1'), '10.0.0.1')).toBe(false)
  })
  test('with a port is for that one alone', () => {
    const rules = listed('example.org:8443', '[2606:4700::1111]:853')
    expect(allows(rules, 'example.org', 8443)).toBe(true)
    expect(allows(rules, 'example.org', 443)).toBe(false)
    expect(allows(rules, '2606:4700::1111', 853)).toBe(true)
  })
  test('of a server is for its own port, and may lead inside', () => {
    const rule = ruleOfUrl('http://127.0.0.1:8081/ada/engine.git')
    expect(rule).toEqual({ host: '127.0.0.1', isSuffix: false, port: 8081, mayBeInside: true })
    expect(ruleOfUrl('https://code.example/ada/engine.git')).toMatchObject({
      host: 'code.example',
      port: 443,
    })
  })
})

test('this machine is the same by each of its names', () => {
  const rules = [ruleOfUrl('http://localhost:8081/')]
  expect(allows(rules, '127.0.0.1', 8081)).toBe(true)
  expect(allows(rules, '::1', 8081)).toBe(true)
  expect(allows(rules, '127.0.0.1', 8080)).toBe(false)
})

test('a destination is read as it is written', () => {
  expect(hostAndPort('Example.ORG.:443')).toEqual({ host: 'example.org', port: 443 })
  expect(hostAndPort('[::1]:80')).toEqual({ host: '::1', port: 80 })
  expect(hostAndPort('::1')).toEqual({ host: '::1', port: null })
  expect(hostAndPort('example.org')).toEqual({ host: 'example.org', port: null })
  expect(hostAndPort('')).toEqual({ host: '', port: null })
})

describe('an address that a name leads to', () => {
  const named = listed('example.org')
  const may = (address: string, rules = named) =>
    mayConnect(address, 443, rulesFor(rules, 'example.org', 443), rules)

  test('is taken when it is public', () => expect(may('93.184.215.14')).toBe(true))
  test.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1'])('is not taken when it is %s', (address) =>
    expect(may(address)).toBe(false),
  )
  test('is taken inside when it is listed in numbers by who may', () => {
    const inside = ruleOf('10.1.2.3', { mayBeInside: true })
    expect(may('10.1.2.3', [...named, inside])).toBe(true)
    expect(may('10.1.2.4', [...named, inside])).toBe(false)
    expect(may('10.1.2.3', [...named, ...listed('10.1.2.3')])).toBe(false)
  })
  test('is taken inside when the project lists it in numbers and the operator lets it', () => {
    const rules = (mayReachPrivate: boolean) =>
      ['10.1.2.3', 'intranet.example'].map((host) => ruleOfProject(host, { mayReachPrivate }))
    const leads = (address: string, mayReachPrivate: boolean) =>
      mayConnect(
        address,
        443,
        rulesFor(rules(mayReachPrivate), 'intranet.example', 443),
        rules(mayReachPrivate),
      )
    expect(leads('10.1.2.3', true)).toBe(true)
    expect(leads('10.1.2.3', false)).toBe(false)
    // A private address that the project does not list in numbers is refused.
    expect(leads('10.1.2.4', true)).toBe(false)
  })
  describe('that the operator permits', () => {
    const permitted = { mayReachPrivate: false, privateHosts: ['registry.example'] }
    const leads = (listed: string, host: string, address: string) => {
      const rules = [ruleOfProject(listed, permitted)]
      return mayConnect(address, 443, rulesFor(rules, host, 443), rules)
    }
    test.each([
      '10.1.2.3',
      '172.16.0.9',
      '192.168.7.7',
      '100.64.1.1',
      '198.18.0.9',
      'fd00::9',
      '93.184.215.14',
    ])('may be %s when the project lists it', (address) =>
      expect(leads('Registry.Example.', 'registry.example', address)).toBe(true),
    )
    test.each([
      '127.0.0.1',
      '127.9.9.9',
      '::1',
      '::ffff:127.0.0.1',
      '0.0.0.0',
      '169.254.169.254',
      '::ffff:169.254.169.254',
      'fe80::1',
      'fd00:ec2::254',
      '100.100.100.200',
      '224.0.0.1',
      '64:ff9b::7f00:1',
    ])('may never be %s', (address) =>
      expect(leads('registry.example', 'registry.example', address)).toBe(false),
    )
    test('may not be an address of this machine', () => {
      const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
      expect(own.filter(({ address }) => leads('registry.example', 'registry.example', address))).toEqual([])
    })
    test.each([
      ['*.example', 'registry.example'],
      ['other.example', 'other.example'],
      ['registry.example.org', 'registry.example.org'],
      ['sub.registry.example', 'sub.registry.example'],
      ['10.1.2.3', '10.1.2.3'],
    ])('is not what the entry %s leads to', (listed, host) =>
      expect(leads(listed, host, '10.1.2.3')).toBe(false),
    )
    test('is reached on the ports that the project lists', () => {
      const rules = [ruleOfProject('registry.example:8443', permitted)]
      expect(rulesFor(rules, 'registry.example', 443)).toEqual([])
      expect(mayConnect('10.1.2.3', 8443, rulesFor(rules, 'registry.example', 8443), rules)).toBe(true)
    })
  })
  test('is not taken when it is a public one of this machine, unless a rule may lead inside', () => {
    const common = { netmask: '', mac: '', internal: false, cidr: null }
    const own = [
      { ...common, address: '93.184.215.14', family: 'IPv4' as const },
      { ...common, address: '2606:4700::1111', family: 'IPv6' as const, scopeid: 0 },
    ]
    const replaced = vi.spyOn(os, 'networkInterfaces').mockReturnValue({ eth0: own })
    syncBuiltinESMExports()
    try {
      for (const { address } of own) {
        expect(reachOf(address)).toBe('inside')
        expect(may(address)).toBe(false)
        expect(may(address, [ruleOfUrl('https://example.org/')])).toBe(true)
      }
      expect(may('93.184.215.15')).toBe(true)
    } finally {
      replaced.mockRestore()
      syncBuiltinESMExports()
    }
  })
  test.each(['169.254.169.254', '100.100.100.200', '168.63.129.16'])(
    'is never %s, where a cloud tells its machines of themselves',
    (address) => {
      const metadata = ruleOf(address, { mayBeInside: true })
      expect(may(address, [...named, metadata])).toBe(false)
    },
  )
})
