// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { openPart } from '../../../../../tests/client/page.tsx'
import { taskOf } from '../../../../../tests/client/samples.ts'
import { executionId } from '../../../../../tests/domain/ids.ts'
import type { LogDocument } from '#domain/views/commandLog.ts'
import { Artifacts } from './Artifacts.tsx'

const { id: taskId } = taskOf(1)
const log: LogDocument = {
  id: `artifacts:${executionId(1)}`,
  task: taskId,
  executionId: executionId(1),
  messageId: null,
  kind: 'artifact',
  name: 'artifact',
  target: null,
  input: null,
  output: null,
  summary: null,
  status: 'completed',
  exitCode: null,
  durationMs: null,
  additions: null,
  deletions: null,
  timestamp: '2026-01-01T00:00:00.000Z',
  order: '1',
  position: '1',
  version: 1,
  artifacts: [
    { id: 'film', name: 'film.mp4', type: 'video/mp4', size: 2_048 },
    { id: 'log', name: 'runs/run.log', type: 'text/plain', size: 3_072 },
    { id: 'page', name: 'a.svg', type: 'application/octet-stream', size: 10 },
    { id: 'gone', name: null, type: 'image/png', size: 10 },
  ],
}

/** The files of a turn; pressing a button shows one less. */
function Files() {
  const [count, setCount] = useState(4)
  return (
    <>
      <button type="button" onClick={() => setCount(3)}>
        Other files
      </button>
      <Artifacts log={{ ...log, artifacts: log.artifacts?.slice(0, count) }} />
    </>
  )
}

test('a video can be played, a text opened, every file downloaded, and an erased one is said to be erased', async () => {
  const answer = (grant: string) => {
    const artifacts = ['film', 'log', 'page', 'gone'].map((id) => ({
      id,
      url: `/api/images/${id}?grant=${grant}`,
    }))
    return { [`GET /tasks/${taskId}/artifacts`]: { artifacts } }
  }
  const { server } = openPart(<Files />, answer('a'))
  const download = await screen.findByRole('link', { name: 'Download a.svg' })
  const source = () => document.querySelector('video')?.getAttribute('src')
  expect(source()).toBe('/api/images/film?grant=a')
  expect(screen.getByRole('link', { name: 'Open runs/run.log as text' }).getAttribute('href')).toBe(
    '/api/images/log?grant=a',
  )
  const downloads = screen.getAllByRole('link', { name: /^Download / })
  expect(downloads.map((link) => link.getAttribute('download'))).toEqual(['film.mp4', 'run.log', 'a.svg'])
  expect(screen.queryByRole('link', { name: 'Open a.svg as text' })).toBeNull()
  expect(screen.getByText('This file was erased.')).toBeTruthy()

  // Other files bring new addresses, and a video goes on with the one that it has as long as that works.
  server.answer(answer('b'))
  fireEvent.click(screen.getByRole('button', { name: 'Other files' }))
  await waitFor(() => expect(download.getAttribute('href')).toMatch(/grant=b$/))
  expect(source()).toBe('/api/images/film?grant=a')
  const video = document.querySelector('video')
  if (video) fireEvent.error(video)
  expect(source()).toBe('/api/images/film?grant=b')
})
