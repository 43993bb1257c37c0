// @vitest-environment jsdom
import { act, cleanup, render, screen, waitFor } from '@testing-library/react'
import { Provider } from 'react-redux'
import { expect, onTestFinished, test } from 'vitest'
import { clientStore } from '../../../../tests/client/page.tsx'
import { taskOf } from '../../../../tests/client/samples.ts'
import { fakeServer } from '../../../../tests/client/server.ts'
import { tokenKey } from '../../api/tokenStore.ts'
import { Pictures } from './Pictures.tsx'

const task = taskOf(1)
const names = ['one', 'two', 'three']
const picture = (name: string) => ({ id: name, name: `${name}.png`, url: `/old/${name}` })

test('pictures whose addresses have run out all at once are all shown again', async () => {
  const images = names.map((name) => ({ ...picture(name), url: `/new/${name}` }))
  fakeServer({ [`GET /tasks/${task.id}/chat`]: { messages: [{ images }], version: 1 } })
  localStorage.setItem(tokenKey, 'token-of-ada')
  onTestFinished(() => {
    cleanup()
    localStorage.clear()
  })
  render(
    <Provider store={clientStore()}>
      <Pictures taskId={task.id} pictures={names.map(picture)} layout="horizontal" most={3} />
    </Provider>,
  )
  act(() => {
    for (const name of names) screen.getByAltText(`${name}.png`).dispatchEvent(new Event('error'))
  })
  for (const name of names) {
    await waitFor(() => expect(screen.getByAltText(`${name}.png`).getAttribute('src')).toBe(`/new/${name}`))
  }
})
