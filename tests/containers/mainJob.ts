/** The main job with a product that runs in containers: sign in, import, run, watch, run a command in the sandbox, compare, publish. */
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { getChat, getTerminal } from '#domain/api/chat.schema.ts'
import { getNotices } from '#domain/api/server.schema.ts'
import { createPullRequest, executeTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { asRead, type Live } from '../product/live.ts'
import type { Person } from '../product/person.ts'
import { hasEnded, watching } from '../server/scene.ts'

export interface Visited {
  /** Signs in as ada, whose onboarding is completed. */
  readonly signIn: () => Promise<Person>
  /** The same person at the gateway where they watch the live page: another one, if there are several. */
  readonly watcher: (person: Person) => Person
  /** The address of a page of the code host, as this process reaches it. */
  readonly pageAt: (url: string) => string
}

const runMs = 120_000

/** Registers the tests. They depend on each other, in the order of the job, and their results stay. */
export function mainJob(visited: () => Visited): void {
  let ada: Person
  let live: Live
  let taskId = ''

  test('a person signs in, and the server tells that its model is scripted and nothing of a missing sandbox', async () => {
    ada = await visited().signIn()
    const { notices } = await ada.ask(getNotices)
    expect(notices).toEqual([expect.stringContaining('scripted model')])
  })

  test('a run goes through, and is seen live as its history tells it', async () => {
    const projectId = await ada.project('sample')
    const task = await ada.task(projectId, 'Look around')
    taskId = task.id
    live = await watching(visited().watcher(ada), taskId)
    const ended = await ada.taskOnce(taskId, hasEnded, runMs)
    expect(ended).toMatchObject({ status: 'completed', failure: null })
    await live.until('the end', ({ name, payload }) => name === 'task_status_changed' && hasEnded(payload))
    const params = { taskId }
    const { messages } = await ada.ask(getChat, { params })
    const answers = messages.filter(({ messageType }) => messageType === 'response')
    expect(answers.length).toBeGreaterThan(0)
    expect(live.of('chat_message').map(({ id }) => id)).toEqual(
      expect.arrayContaining(answers.slice(-1).map(({ id }) => id)),
    )
    const { output } = await ada.ask(getTerminal, { params })
    const heard = live.of('terminal_output')
    expect(heard.length).toBeGreaterThan(0)
    expect(output.slice(-heard.length)).toEqual(asRead(heard))
  })

  test('a command runs in the sandbox: as nobody of the container, without its program, its secrets and its processes', async () => {
    const command =
      'id -u; pwd; ls /app/dist /run/secrets /data; ls -d /proc/[0-9]* | wc -l; touch /usr/bin/x; echo $MASTER_KEY_FILE.'
    await ada.ask(executeTask, { params: { taskId }, body: { command } })
    await live.until('its end', ({ name }) => name === 'command_completed', runMs)
    const said = live.of('command_output').flatMap((one) => (one.type === 'stdout' ? [one.output] : []))
    const printed = stripVTControlCharacters(said.join(''))
    const [uid, folder, processes, variable] = printed.trim().split('\n').slice(-4)
    expect({ uid, folder, variable }).toEqual({ uid: '27182', folder: '/workspace', variable: '.' })
    expect(Number(processes)).toBeLessThan(10)
    const errors = live.of('command_output').flatMap((one) => (one.type === 'stderr' ? [one.output] : []))
    expect(errors.join('')).toMatch(/dist.*\n.*secrets.*\n.*data.*\n.*usr\/bin\/x.*(Read-only|denied)/)
    await ada.taskOnce(taskId, hasEnded)
  })

  test('the difference is what the agent made', async () => {
    const { data } = await ada.ask(getTaskDiff, { params: { taskId } })
    expect(data).toMatchObject({ status: 'ready', totalChanges: 1 })
    expect(data.changedFiles[0]).toMatchObject({ fileName: 'FLIGHTDECK.md', status: 'added' })
  })

  test('the pull request is opened, and its page shows the work', async () => {
    const { pr } = await ada.ask(createPullRequest, { params: { taskId } })
    expect(pr.number).toBe(1)
    const page = await (await fetch(visited().pageAt(pr.html_url))).text()
    for (const shown of ['Look around', 'FLIGHTDECK.md']) expect(page).toContain(shown)
    live.close()
  })
}
