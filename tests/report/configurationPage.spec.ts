/** `docs/configuration.md` describes what the product reads, and the README only names existing variables. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { variables } from '#platform/config/variables.ts'
import { configurationPage, describedVariables, namesOnPage } from './configurationPage.ts'

const described = describedVariables()

describe('the page of the configuration', () => {
  test('is as it is generated', async () => {
    await expect(configurationPage()).toMatchFileSnapshot('../../docs/configuration.md')
  })

  test('has each variable once', () =>
    expect(namesOnPage.toSorted()).toEqual(described.map(({ name }) => name).toSorted()))

  test('has the defaults that the schema has', () => {
    const initial = new Map(described.map((variable) => [variable.name, variable.initial]))
    const wrong = Object.entries(variables).flatMap(([name, [schema]]) => {
      const possible = written(schema.safeParse(undefined).data)
      return possible.length > 0 && !possible.includes(initial.get(name) ?? '') ? [name] : []
    })
    expect(wrong).toEqual([])
  })
})

/** How a default may be written; nothing for one that is no single value. Gigabytes are read as bytes. */
function written(value: unknown): readonly string[] {
  if (typeof value === 'boolean') return [value ? '1' : '0']
  if (typeof value === 'string') return [value]
  return typeof value === 'number' ? [String(value), String(value / 1e9)] : []
}

test('the README names eight groups of variables, each of which is read', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  const [, section = ''] = readme.split(/^## Configuration$/m)
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const names = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
  )
  expect(rows).toHaveLength(8)
  expect(described.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
})
