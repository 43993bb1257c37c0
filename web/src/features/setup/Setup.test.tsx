// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'
import { texts } from './texts.ts'

test('github 4.1: back from the code host the page can be used again, also where the browser shows it as it was', async () => {
  const submit = vi.spyOn(HTMLFormElement.prototype, 'submit').mockImplementation(() => undefined)
  openPage('/setup#code=abc', {
    answers: {
      'GET /setup': { isOpen: true, publicUrl: null, hostUrl: 'https://code.example', installUrl: null },
      'POST /setup': { action: 'https://code.example/settings/apps/new', manifest: '{}' },
    },
  })
  fireEvent.click(await screen.findByRole('button', { name: texts.create }))
  await waitFor(() => expect(submit).toHaveBeenCalledOnce())
  expect(screen.queryByRole('button', { name: texts.create })).toBeNull()
  fireEvent(window, Object.assign(new Event('pageshow'), { persisted: true }))
  expect(await screen.findByRole('button', { name: texts.create })).toBeTruthy()
  submit.mockRestore()
})

test('the page works over plain HTTP, where crypto.randomUUID is missing', async () => {
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true })
  onTestFinished(() => void Reflect.deleteProperty(crypto, 'randomUUID'))
  openPage('/setup#code=abc', {
    answers: {
      'GET /setup': { isOpen: true, publicUrl: null, hostUrl: 'https://code.example', installUrl: null },
    },
  })
  expect(await screen.findByDisplayValue(/^Flightdeck [0-9a-f]{6}$/)).toBeTruthy()
})
