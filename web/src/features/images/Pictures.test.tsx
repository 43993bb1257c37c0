// @vitest-environment jsdom
import { act, screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openPart } from '../../../../tests/client/page.tsx'
import { taskOf } from '../../../../tests/client/samples.ts'
import type { Picture } from './usePictureAddresses.ts'
import { Pictures } from './Pictures.tsx'

const task = taskOf(1)
const names = ['one', 'two', 'three']
const picture = (name: string): Picture => ({
  id: name,
  name: `${name}.png`,
  url: `/old/${name}`,
  size: 1,
  type: 'image/png',
})

test('pictures whose addresses have run out all at once are all shown again', async () => {
  const images = names.map((name) => ({ ...picture(name), url: `/new/${name}` }))
  openPart(<Pictures taskId={task.id} pictures={names.map(picture)} layout="horizontal" most={3} />, {
    [`GET /tasks/${task.id}/images`]: { images },
  })
  act(() => {
    for (const name of names) screen.getByAltText(`${name}.png`).dispatchEvent(new Event('error'))
  })
  for (const name of names) {
    await waitFor(() => expect(screen.getByAltText(`${name}.png`).getAttribute('src')).toBe(`/new/${name}`))
  }
})
