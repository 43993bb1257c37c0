import { expect, test } from 'vitest'
import type { RepositoryAbility } from '../api/abilities.schema.ts'
import { abilitiesFor } from './abilities.ts'

const command = (name: string): RepositoryAbility => ({
  kind: 'command',
  name,
  description: '',
  argument: null,
})
const namesOf = (all: ReturnType<typeof abilitiesFor>) => all.map(({ name, from }) => `${from} ${name}`)

test('of one name the repository has the last word, then the person, then the agent', () => {
  const own = [
    { name: 'ship', description: 'Mine' },
    { name: 'init', description: 'Mine' },
  ]
  const all = abilitiesFor('claude', [command('ship'), command('compact')], own)
  expect(all.filter(({ replaces }) => replaces !== null)).toMatchObject([
    { name: 'compact', from: 'repository', replaces: 'agent' },
    { name: 'init', from: 'person', replaces: 'agent' },
    { name: 'ship', from: 'repository', replaces: 'person' },
  ])
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
})

test('a subagent takes no name from a command, and only claude has any', () => {
  const both: RepositoryAbility[] = [{ ...command('ship'), kind: 'subagent' }, command('ship')]
  expect(abilitiesFor('claude', both, []).filter(({ name }) => name === 'ship')).toHaveLength(2)
  expect(namesOf(abilitiesFor('codex', both, []))).toEqual(['repository ship'])
  expect(abilitiesFor('cursor', both, [{ name: 'tidy', description: '' }])).toEqual([])
})
