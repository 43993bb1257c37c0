// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openPage } from '../../../../../tests/client/page.tsx'
import { projectOf, unsetSettings } from '../../../../../tests/client/samples.ts'
import { json } from '../../../../../tests/client/server.ts'

const project = projectOf(1)
const path = `/projects/${project.id}`
const web = { name: 'web', command: 'npm run dev', readyPort: 5173 }
const settingsWith = (services: readonly object[]) => ({ ...unsetSettings, services })

async function open(services: readonly object[]) {
  const settings = settingsWith(services)
  const server = openPage(`${path}/settings`, {
    answers: {
      [`GET ${path}`]: { project },
      [`GET ${path}/settings`]: { settings, suggestions: [] },
      [`GET ${path}/repository`]: { repository: null },
      [`PUT ${path}/settings`]: { settings },
    },
  })
  const part = within(await screen.findByRole('region', { name: 'Services' }))
  const sent = () => server.of(`PUT ${path}/settings`).map(({ body }) => body)
  const write = (row: string, label: string, value: string) =>
    fireEvent.change(within(part.getByRole('listitem', { name: row })).getByLabelText(label), {
      target: { value },
    })
  return { server, part, sent, write, save: () => fireEvent.click(part.getByText('Save Changes')) }
}

test('services are added, changed, removed and saved together', async () => {
  const { part, sent, write, save } = await open([web])
  save()
  expect(sent()).toEqual([])
  write('web', 'Ready port', '')
  fireEvent.click(part.getByText('Add Service'))
  write('New service', 'Name', ' db ')
  write('db', 'Start command', 'postgres')
  write('db', 'Ready port', '5432')
  save()
  await waitFor(() => expect(sent()).toHaveLength(1))
  expect(sent()[0]).toEqual({
    services: [
      { name: 'web', command: 'npm run dev', readyPort: null },
      { name: 'db', command: 'postgres', readyPort: 5432 },
    ],
  })
  fireEvent.click(part.getByLabelText('Remove web'))
  fireEvent.click(part.getByLabelText('Remove db'))
  part.getByText('No services yet.')
  save()
  await waitFor(() => expect(sent()).toHaveLength(2))
  expect(sent()[1]).toEqual({ services: [] })
})

test('a fault is told at the service that has it, or below them all', async () => {
  const { server, part, write, save } = await open([web])
  const refuse = (field: string, error: string) =>
    server.answer({ [`PUT ${path}/settings`]: () => json(400, { error, code: 'invalid_input', field }) })
  refuse('services.0.readyPort', 'Enter a port from 1 to 65535.')
  write('web', 'Ready port', 'http')
  save()
  expect((await part.findByRole('alert')).textContent).toBe('Enter a port from 1 to 65535.')
  refuse('services', 'Two services have the same name.')
  save()
  const below = await part.findByText('Two services have the same name.')
  expect(below.closest('[role=alert]')).not.toBeNull()
  expect(part.getAllByRole('alert')).toHaveLength(1)
})

test('no more than eight can be added', async () => {
  const { part } = await open(Array.from({ length: 8 }, (_, at) => ({ ...web, name: `web${at}` })))
  part.getByText('A project can have at most 8 services.')
  expect(part.queryByText('Add Service')).toBeNull()
})
