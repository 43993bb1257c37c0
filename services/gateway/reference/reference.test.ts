/** The OpenAPI document is valid for programs, and the page shows all of it. */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { calls } from '#domain/api/calls.schema.ts'
import { openApi } from './openapi.ts'
import { referencePage } from './page.ts'

const document = openApi({ version: '1.2.3' })
const page = referencePage(document)

/** The linter's rules that are ignored: redirects have no 2xx answer, and no call returns the schemas of socket messages. */
const known = ['operation-2xx-response', 'no-unused-components']

test('the document has no fault that Redocly’s recommended rules find', async () => {
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config: await createConfig({ extends: ['recommended'] }),
  })
  const told = problems.filter(({ severity, ruleId }) => severity === 'error' || !known.includes(ruleId))
  expect(told.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
  // An empty document would have no faults either.
  expect(Object.keys(document.paths).length).toBeGreaterThan(25)
})

test('the linter would find one', async () => {
  const broken = { ...document, paths: { '/api/{lost}': { get: {} } } }
  const problems = await lintFromString({
    source: JSON.stringify(broken),
    absoluteRef: 'openapi.json',
    config: await createConfig({ extends: ['recommended'] }),
  })
  expect(problems.some(({ severity }) => severity === 'error')).toBe(true)
})

describe('the document', () => {
  test.each(calls.map(({ name, call }) => [name, call] as const))('knows the call %s', (name, call) => {
    const path = `/api${call.path.replace(/:(\w+)/g, '{$1}')}`
    const operation = document.paths[path]?.[call.method.toLowerCase()]
    expect(operation).toMatchObject({ operationId: name })
    expect(Object.keys(operation?.responses ?? {})).toContain(String(call.status))
  })

  test('lets answers have members that it does not know yet, and bodies say what they take', () => {
    const text = JSON.stringify(document.components)
    expect(text).not.toContain('"additionalProperties":false')
    expect(JSON.stringify(openApi({ version: '1', exact: true }).components)).toContain(
      '"additionalProperties":false',
    )
    const body = JSON.stringify(document.paths['/api/tasks']?.['post']?.requestBody)
    for (const word of ['description', 'projectId', 'branch', 'codexModel', 'images', 'claude', 'cursor'])
      expect(body).toContain(`"${word}"`)
  })
})

describe('the page', () => {
  test.each(calls.map(({ name, call }) => [name, call] as const))('shows the call %s', (name, call) => {
    expect(page).toContain(`id="${name}"`)
    expect(page).toContain(`<code>/api${call.path.replace(/:(\w+)/g, '{$1}')}</code>`)
  })

  test('leads only to places that it has', () => {
    const ids = new Set([...page.matchAll(/id="([^"]+)"/g)].map(([, id]) => id))
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
    expect(links.length).toBeGreaterThan(60)
    expect(links.filter((link) => !ids.has(link))).toEqual([])
  })

  test('has no script, and text of the document does not become one', () => {
    const hostile = { ...document, info: { ...document.info, description: '<script>`<b>`</script>' } }
    expect(referencePage(hostile)).not.toMatch(/<script|<b>/)
  })
})
