// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openPart } from '../../../../tests/client/page.tsx'
import { Dialog } from './Dialog.tsx'
import { Picker } from './Picker.tsx'

const loaded = vi.hoisted(() => vi.fn<() => void>())
vi.mock(import('./PickerList.tsx'), (original) => {
  loaded()
  return original()
})

function AgentPicker({ onChoose }: { readonly onChoose: (value: string) => void }) {
  return (
    <Picker
      label="Agent"
      placeholder="None"
      icon={null}
      options={[
        { value: 'claude', label: 'Claude' },
        { value: 'codex', label: 'Codex' },
      ]}
      chosen={null}
      onChoose={onChoose}
      filterLabel="Search agents"
      emptyText="No agents found"
    />
  )
}

// The first test, because a list that is loaded stays so.
test('the list is loaded when somebody points at the picker, but not while offline', async () => {
  const onLine = vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false)
  onTestFinished(() => onLine.mockRestore())
  openPart(
    <Picker
      label="Agent"
      placeholder="None"
      icon={null}
      options={[]}
      chosen={null}
      onChoose={() => undefined}
      filterLabel="Search agents"
      emptyText="No agents found"
    />,
  )
  const button = screen.getByRole('combobox', { name: 'Agent: None' })
  fireEvent.pointerEnter(button)
  await vi.dynamicImportSettled()
  expect(loaded).not.toHaveBeenCalled()
  onLine.mockReturnValue(true)
  fireEvent.pointerEnter(button)
  await waitFor(() => expect(loaded).toHaveBeenCalledOnce())
})

test('the list of a picker in a dialog is part of the dialog, and Escape closes the list alone', async () => {
  const onChoose = vi.fn<(value: string) => void>()
  const onClose = vi.fn<() => void>()
  openPart(
    <Dialog open onClose={onClose} title="Add a run" actions={<button>Start run</button>}>
      <AgentPicker onChoose={onChoose} />
    </Dialog>,
  )
  const dialog = within(screen.getByRole('dialog', { name: 'Add a run' }))
  const button = dialog.getByRole('combobox', { name: 'Agent: None' })
  fireEvent.click(button)
  const filter = await dialog.findByRole('combobox', { name: 'Search agents' })
  // A browser closes a dialog by Escape unless the default of the key is prevented.
  expect(fireEvent.keyDown(filter, { key: 'Escape' })).toBe(false)
  expect(dialog.queryByRole('listbox')).toBeNull()
  fireEvent.click(button)
  fireEvent.click(await dialog.findByRole('option', { name: 'Codex' }))
  expect(onChoose).toHaveBeenCalledExactlyOnceWith('codex')
  expect(onClose).not.toHaveBeenCalled()
})

test('on a touch screen the options have the focus and the keys, so that no keyboard covers them', async () => {
  const onChoose = vi.fn<(value: string) => void>()
  openPart(<AgentPicker onChoose={onChoose} />)
  vi.stubGlobal('matchMedia', (media: string) => ({ matches: media === '(pointer: coarse)' }))
  fireEvent.click(screen.getByRole('combobox', { name: 'Agent: None' }))
  const list = await screen.findByRole('listbox', { name: 'Agent' })
  expect(document.activeElement).toBe(list)
  const codex = screen.getByRole('option', { name: 'Codex' })
  expect(codex.className).toContain('min-h-11')
  fireEvent.keyDown(list, { key: 'ArrowDown' })
  expect(list.getAttribute('aria-activedescendant')).toBe(codex.id)
  fireEvent.keyDown(list, { key: 'Enter' })
  expect(onChoose).toHaveBeenCalledExactlyOnceWith('codex')
})

test.each([
  ['flightdeck/add-a-date-to-each-line', 'flightdeck/add-a-date-to'],
  // The end would be read before the beginning.
  ['flightdeck/\u05D4\u05D5\u05E1\u05E3-\u05EA\u05D0\u05E8\u05D9\u05DA-\u05DC\u05DB\u05DC', ''],
])('the chosen name is cut in the middle unless it has right-to-left letters: %s', (name, before) => {
  openPart(
    <Picker
      label="Branch"
      placeholder="None"
      icon={null}
      options={[{ value: name, label: name }]}
      chosen={name}
      onChoose={() => undefined}
      filterLabel="Search branches"
      emptyText="No branches found"
    />,
  )
  const shown = screen.getByTitle(name)
  expect(shown.dir).toBe('auto')
  expect(shown.firstElementChild?.textContent).toBe(before)
  expect(shown.textContent).toBe(name)
})
