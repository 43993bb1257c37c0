// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { openPart } from '../../../../tests/client/page.tsx'
import { Menu } from './Menu.tsx'

test('a menu stays open beside its button while the page scrolls, and closes by a press elsewhere', () => {
  openPart(
    <>
      <Menu
        button={(props) => <button {...props}>More</button>}
        items={[{ label: 'Copy', onChoose: () => undefined }]}
      />
      <p>Written by an agent</p>
    </>,
  )
  const button = screen.getByRole('button', { name: 'More' })
  const box = vi.spyOn(button, 'getBoundingClientRect')
  box.mockReturnValue(new DOMRect(10, 100, 20, 20))
  fireEvent.click(button)
  const menu = screen.getByRole('menu')
  expect(menu.style.top).toBe('124px')
  fireEvent.scroll(screen.getByText('Written by an agent'))
  expect(menu.isConnected).toBe(true)
  box.mockReturnValue(new DOMRect(10, 40, 20, 20))
  fireEvent.scroll(document)
  expect(menu.style.top).toBe('64px')
  fireEvent.pointerDown(screen.getByText('Written by an agent'))
  expect(menu.isConnected).toBe(false)
})
