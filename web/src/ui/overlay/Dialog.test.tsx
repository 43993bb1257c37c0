// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { onTestFinished, expect, test, vi } from 'vitest'
import { Dialog } from './Dialog.tsx'

/** A dialog with a field, over a page whose button has the focus. jsdom lacks the dialog's two methods, so the test defines them. */
function open() {
  let before: Element | null = null
  HTMLDialogElement.prototype.showModal = function showModal() {
    before = document.activeElement
    this.open = true
  }
  HTMLDialogElement.prototype.close = function close() {
    this.open = false
    if (this.isConnected && before instanceof HTMLElement) before.focus()
  }
  onTestFinished(cleanup)
  const onClose = vi.fn<() => void>()
  const page = (dialog: boolean) => (
    <>
      <button>Edit</button>
      {dialog && (
        <Dialog open onClose={onClose} title="Edit it" actions={<button>Save</button>}>
          <input data-safe aria-label="Name" />
        </Dialog>
      )}
    </>
  )
  const { rerender } = render(page(false))
  screen.getByText('Edit').focus()
  rerender(page(true))
  return { onClose, takeOut: () => rerender(page(false)) }
}

test('a dialog closes by a click beside it, but not when text in it is chosen to beyond its edge', () => {
  const { onClose } = open()
  const dialog = document.querySelector('dialog') ?? document.body
  fireEvent.pointerDown(screen.getByLabelText('Name'))
  // The browser reports a click on the element that contains both ends of the drag.
  fireEvent.click(dialog)
  expect(onClose).not.toHaveBeenCalled()
  fireEvent.pointerDown(dialog)
  fireEvent.click(dialog)
  expect(onClose).toHaveBeenCalledOnce()
})

test('a dialog that is taken out of the page gives the focus back', () => {
  const { takeOut } = open()
  expect(document.activeElement).toBe(screen.getByLabelText('Name'))
  takeOut()
  expect(document.activeElement).toBe(screen.getByText('Edit'))
})
