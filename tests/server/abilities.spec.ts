/** Skills and commands of a repository and a person: used in a task, listed, replaced when they change, and not available to others. */
import { mkdir, rm, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findProjectFiles, listProjectAbilities, listTaskAbilities } from '#domain/api/abilities.schema.ts'
import { getInstructions, updateInstructions } from '#domain/api/instructions.schema.ts'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { findTaskFiles } from '#domain/api/taskFiles.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { commit, git, gitDone } from '../contracts/codeHost.fixture.ts'
import { bareRepository } from './pushing.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const ofRepository = {
  '.claude/skills/greet/SKILL.md':
    '---\nname: greet\ndescription: Greets people\n---\nSay hello to $ARGUMENTS.',
  '.claude/commands/status.md':
    '---\ndescription: "Tells <b>how</b> it stands"\nargument-hint: "[part]"\n---\nSay how $ARGUMENTS stands.',
  '.claude/commands/ship.md': 'Ship as the repository does.',
  '.claude/agents/checker.md': '---\nname: checker\ndescription: Checks the work\n---\nYou check.',
  'src/deep/greeting.ts': 'export {}\n',
}

let scene: Scene
beforeAll(async () => {
  scene = await openScene([{ turns: [{ text: 'Fine.' }] }])
  const { dataDir } = scene.product
  const clone = join(dataDir, '..', `${basename(dataDir)}-clone`)
  await git(dataDir, ['clone', '-q', '-b', 'main', await bareRepository(dataDir), clone])
  try {
    await mkdir(join(clone, '.claude/commands'), { recursive: true })
    await symlink('/etc/passwd', join(clone, '.claude/commands/leak.md'))
    await commit(clone, 'main', ofRepository)
    await gitDone(clone, ['push', '-q', 'origin', 'main'])
  } finally {
    await rm(clone, { recursive: true })
  }
})
afterAll(() => scene?.close())

const instructions = {
  instructions: 'The person likes short answers.',
  commands: [
    { name: 'ship', description: 'Mine', text: 'Ship as the person does.' },
    { name: 'tidy', description: 'Tidies', text: 'Tidy $ARGUMENTS for me.' },
    { name: 'compact', description: 'My own', text: 'Make it compact.' },
  ],
}

describe('a task with a skill, commands and a subagent of its repository, and commands of the person', () => {
  let task: Task
  beforeAll(async () => {
    await scene.ada.ask(updateInstructions, { body: instructions })
    task = await scene.ada.task(scene.projectId, '/status engine')
    await scene.ada.taskOnce(task.id, ({ status }) => status === 'completed')
  })
  const asked = () => JSON.stringify(scene.api.requests.map(({ body }) => body))
  const params = () => ({ taskId: task.id })
  let turns = 1
  async function say(message: string) {
    const from = scene.api.requests.length
    turns += 1
    await scene.ada.ask(sendMessage, { params: params(), body: { message } })
    await scene.ada.taskOnce(task.id, (now) => hasEnded(now) && now.execution?.turn === turns)
    return JSON.stringify(scene.api.requests.slice(from).map(({ body }) => body))
  }

  test('uses them', async () => {
    expect(asked()).toContain('Say how engine stands.')
    expect(asked()).toContain('The person likes short answers.')
    expect(await say('/greet Bob')).toContain('Say hello to Bob.')
    expect(await say('/tidy things')).toContain('Tidy things for me.')
    expect(await say('/ship')).toContain('Ship as the repository does.')
    expect(asked()).not.toContain('Ship as the person does.')
  })

  test('follows none of its links, of which the terminal tells', async () => {
    const { output } = await scene.ada.ask(getTerminal, { params: params() })
    expect(output.map(({ content }) => content).join('')).toContain(
      'The agent does not get these files of the repository, since they are no plain files: .claude/commands/leak.md.',
    )
    expect(asked()).not.toContain('root:x:0')
  })

  test('lists them, and which takes the place of which', async () => {
    const { abilities, notes } = await scene.ada.ask(listTaskAbilities, { params: params() })
    expect(abilities).toEqual(
      expect.arrayContaining([
        {
          kind: 'subagent',
          name: 'checker',
          description: 'Checks the work',
          argument: null,
          from: 'repository',
          replaces: null,
        },
        {
          kind: 'command',
          name: 'compact',
          description: 'My own',
          argument: null,
          from: 'person',
          replaces: 'agent',
        },
        {
          kind: 'skill',
          name: 'greet',
          description: 'Greets people',
          argument: null,
          from: 'repository',
          replaces: null,
        },
        {
          kind: 'command',
          name: 'ship',
          description: '',
          argument: null,
          from: 'repository',
          replaces: 'person',
        },
        {
          kind: 'command',
          name: 'status',
          description: 'Tells <b>how</b> it stands',
          argument: '[part]',
          from: 'repository',
          replaces: null,
        },
        {
          kind: 'command',
          name: 'tidy',
          description: 'Tidies',
          argument: null,
          from: 'person',
          replaces: null,
        },
      ]),
    )
    expect(abilities.filter(({ name }) => name === 'ship' || name === 'compact')).toHaveLength(2)
    expect(abilities).toContainEqual(expect.objectContaining({ name: 'init', from: 'agent' }))
    expect(notes).toEqual([expect.stringContaining('leak.md')])
    const ofProject = await scene.ada.ask(listProjectAbilities, { params: { projectId: scene.projectId } })
    expect(ofProject).toMatchObject({ abilities, notes })
    const ofCursor = await scene.ada.ask(listTaskAbilities, { params: params(), query: { agent: 'cursor' } })
    expect(ofCursor.abilities).toEqual([])
  })

  test('finds its files by name and by path', async () => {
    const find = async (search: string) =>
      (await scene.ada.ask(findTaskFiles, { params: params(), query: { search } })).files
    expect(await find('greet')).toEqual([
      'src/deep/greeting.ts',
      'src/greet.js',
      '.claude/skills/greet/SKILL.md',
    ])
    expect(await find('DEEP/gr')).toEqual(['src/deep/greeting.ts'])
    expect(await find('no such file')).toEqual([])
    const ofProject = await scene.ada.ask(findProjectFiles, {
      params: { projectId: scene.projectId },
      query: { search: 'readme', branch: 'main' },
    })
    expect(ofProject.files).toEqual(['README.md'])
    const elsewhere = { params: { projectId: scene.projectId }, query: { branch: 'no-such-branch' } }
    expect((await scene.ada.ask(findProjectFiles, elsewhere)).files).toEqual([])
  })

  test('gets what the person changed with the next message', async () => {
    const commands = [{ name: 'tidy', description: 'Tidies', text: 'Tidy $ARGUMENTS twice.' }]
    await scene.ada.ask(updateInstructions, { body: { commands } })
    expect(await say('/tidy things')).toContain('Tidy things twice.')
    const refused = await scene.ada.refused(sendMessage, { params: params(), body: { message: '/vim' } })
    expect(refused).toMatchObject({ status: 400, error: expect.stringContaining('does not work here') })
  })
})

test("a person's instructions are their own, and are kept as they were sent", async () => {
  await scene.ada.ask(updateInstructions, { body: instructions })
  expect(await scene.ada.ask(getInstructions)).toEqual(instructions)
  await scene.ada.ask(updateInstructions, { body: { instructions: 'Others.' } })
  expect(await scene.ada.ask(getInstructions)).toEqual({ ...instructions, instructions: 'Others.' })
  const grace = await scene.product.signIn('grace')
  expect(await grace.ask(getInstructions)).toEqual({ instructions: '', commands: [] })
})

test.each([
  [{ instructions: 'ä'.repeat(8_200) }, /16 KiB/],
  [
    { commands: Array.from({ length: 51 }, (_, n) => ({ name: `c${n}`, description: '', text: 'x' })) },
    /at most 50/,
  ],
  [{ commands: [{ name: '../escape', description: '', text: 'x' }] }, /lowercase letters/],
  [{ commands: [{ name: 'two\nlines', description: '', text: 'x' }] }, /lowercase letters/],
  [{ commands: [{ name: 'blank', description: '', text: '  ' }] }, /needs a text/],
  [{ commands: [1, 2].map(() => ({ name: 'same', description: '', text: 'x' })) }, /same name/],
])('instructions that cannot be kept are refused with why (%#)', async (body, why) => {
  const refused = await scene.ada.refused(updateInstructions, { body })
  expect(refused).toMatchObject({ status: 400, error: expect.stringMatching(why) })
})
