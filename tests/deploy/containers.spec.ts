/** What the Dockerfile says, for machines without a container engine. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

const textOf = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8')

test('the images have the packages with which sharp decodes pictures, which are optional', () => {
  const Lock = z.object({
    packages: z.record(z.string(), z.looseObject({ optional: z.boolean().optional() })),
  })
  const { packages } = Lock.parse(JSON.parse(textOf('package-lock.json')))
  expect(packages['node_modules/@img/sharp-linux-x64']?.optional).toBe(true)
  expect(textOf('Dockerfile')).not.toMatch(/npm ci.*(--omit[= ]optional|--no-optional)/)
})
