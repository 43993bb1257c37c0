/** What the product is made of: licences that nobody has reviewed, and audits that did not run, are reported. */
import { describe, expect, test } from 'vitest'
import { componentsOf, licenceReport, readAudit, termsOf } from '../../scripts/supplyChain.js'

const component = { name: 'left-pad', version: '1.0.0', licence: 'MIT', isDevelopment: false }

describe('a licence', () => {
  test.each(['MIT', '(BSD-3-Clause AND Apache-2.0)', 'MIT OR CC0-1.0'])('%s is fine', (licence) =>
    expect(termsOf({ ...component, licence })).toEqual({ licence, why: '' }),
  )

  test.each(['', 'GPL-3.0-only', 'MIT AND GPL-3.0-only', 'UNLICENSED'])('%j is a fault', (licence) =>
    expect(termsOf({ ...component, licence })).toHaveProperty('fault'),
  )

  test('that was reviewed says why it may be used, in the report too', () => {
    const sharp = { ...component, name: '@img/sharp-linux-x64', licence: 'LGPL-3.0-or-later' }
    expect(termsOf(sharp)).toMatchObject({ licence: 'LGPL-3.0-or-later' })
    const report = licenceReport([component, sharp])
    expect(report).toContain('## MIT (1)\n\nleft-pad 1.0.0')
    expect(report).toContain('- @img/sharp-linux-x64 (LGPL-3.0-or-later): libvips')
  })

  test('is read from a bill of materials, whatever form it has there', () => {
    const bill = {
      components: [
        { name: 'a', version: '1', licenses: [{ license: { id: 'MIT' } }] },
        {
          name: 'b',
          version: '2',
          licenses: [{ expression: 'MIT OR ISC' }],
          properties: [{ name: 'cdx:npm:package:development', value: 'true' }],
        },
        { name: 'c', version: '3' },
      ],
    }
    expect(componentsOf(bill)).toEqual([
      { name: 'a', version: '1', licence: 'MIT', isDevelopment: false },
      { name: 'b', version: '2', licence: 'MIT OR ISC', isDevelopment: true },
      { name: 'c', version: '3', licence: '', isDevelopment: false },
    ])
  })
})

describe('an audit', () => {
  const answer = (/** @type {object} */ vulnerabilities) => JSON.stringify({ vulnerabilities, metadata: {} })

  test('that found nothing is clean', () =>
    expect(readAudit(answer({}), true)).toMatchObject({ kind: 'clean' }))

  test('that found something grave names the packages', () => {
    const found = readAudit(answer({ tar: { severity: 'high' }, ms: { severity: 'low' } }), false)
    expect(found).toMatchObject({ kind: 'vulnerable' })
    expect(found.says).toContain('tar (high)')
    expect(found.says).not.toContain('ms')
  })

  test.each([
    ['no answer', '', false],
    ['a refusal', '{"message":"405 Method Not Allowed"}', false],
    ['an empty object', '{}', true],
  ])('with %s has not run', (_, output, ok) =>
    expect(readAudit(output, ok)).toMatchObject({ kind: 'not_run' }),
  )
})
