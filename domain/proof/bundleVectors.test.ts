/** The test vectors that `docs/audit-bundle.md` names, and its tables, agree with the code. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { bundleVectors } from '../../tests/domain/bundleVectors.ts'
import { cryptography } from '../../services/platform/seals/cryptography.ts'
import { taskEvents } from '../task/events.ts'
import { terminalEvents } from '../task/terminalEvents.ts'
import { categoriesOf } from './auditBundle.ts'
import { BundledContent } from './auditBundle.schema.ts'
import { verifyBundle } from './verifyBundle.ts'

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const vectorText = (name: string) => textOf(`tests/data/proof/${name}`)
const page = textOf('docs/audit-bundle.md')
const made = await bundleVectors()

describe('the vectors of audit bundles', () => {
  test.each(Object.keys(made))('are made today as they were first: %s', async (name) => {
    await expect(made[name]).toMatchFileSnapshot(`../../tests/data/proof/${name}`)
  })

  test.each(['bundle.ndjson', 'partly.ndjson'])(
    'recorder D1, D7: %s is whole by either form of its key, and its seals bear it out',
    (name) => {
      for (const key of vectorText('keys.txt').trim().split('\n')) {
        const seals = vectorText('seals.ndjson').split('\n')
        expect(
          verifyBundle(vectorText(name).split('\n'), cryptography, { keys: [key], seals }),
        ).toMatchObject({ verdict: 'whole', isWitnessed: true, seals: { given: 4, compared: 4 } })
      }
    },
  )

  // Holds findings 2.20.
  test('recorder D1: the payload is base64, and what is signed is what DSSE says', () => {
    const { dsse } = z
      .object({
        dsse: z.object({
          line: z.object({ payload: z.string(), payloadType: z.string() }),
          signedBytes: z.string(),
        }),
      })
      .parse(JSON.parse(vectorText('bundleVectors.json')))
    const statement = Buffer.from(dsse.line.payload, 'base64')
    const head = `DSSEv1 ${dsse.line.payloadType.length} ${dsse.line.payloadType} ${statement.length} `
    expect(Buffer.from(dsse.signedBytes, 'base64').toString('utf8')).toBe(head + statement.toString('utf8'))
  })
})

describe('docs/audit-bundle.md', () => {
  // Holds findings 2.23.
  test('recorder D5: has the categories of each kind of event', () => {
    const [, table = ''] = page.split('| Kind of event | Categories |\n|---|---|\n')
    const rows = (table.split('\n\n')[0] ?? '').split('\n').map((row) => {
      const [, kinds = '', categories = ''] = row.split(' | ').flatMap((cell) => [cell])
      return [row.split('|')[1] ?? kinds, row.split('|')[2] ?? categories] as const
    })
    const quoted = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word ?? '')
    const said = new Map(rows.flatMap(([kinds, of]) => quoted(kinds).map((kind) => [kind, quoted(of)])))
    for (const { type } of [...taskEvents, ...terminalEvents])
      expect([type, said.get(type) ?? ['details']]).toEqual([type, [...categoriesOf(type)]])
    expect(said.size).toBeGreaterThan(15)
  })

  // Holds findings 2.22.
  test('recorder D4, D6, D8: has the file of seals, what blobs and owners are named by, and where the key is from', () => {
    const format = textOf('docs/log-format.md')
    for (const words of ['### The file of seals', '## Blobs', '`ownerId`', '`projectId`', 'npm start -- key'])
      expect(format).toContain(words)
    const heading = (title: string) => `(log-format.md#${title})`
    for (const title of ['the-file-of-seals', 'blobs', 'seals']) expect(page).toContain(heading(title))
    const members = Object.keys(JSON.parse(vectorText('seals.ndjson').split('\n')[0] ?? ''))
    for (const name of members) expect(format).toContain(`| \`${name}\` |`)
  })

  // Holds findings 2.21.
  test('recorder D2, D3: names each member of the manifest and each kind of content', () => {
    const statement: unknown = JSON.parse(
      z
        .object({ dsse: z.object({ statement: z.string() }) })
        .parse(JSON.parse(vectorText('bundleVectors.json'))).dsse.statement,
    )
    const { predicate } = z.object({ predicate: z.record(z.string(), z.unknown()) }).parse(statement)
    for (const name of Object.keys(predicate)) expect(page).toContain(`| \`predicate.${name}\` |`)
    for (const { shape } of BundledContent.options) expect(page).toContain(`- \`${shape.kind.value}\`: `)
  })
})
