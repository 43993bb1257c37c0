// @vitest-environment jsdom
import { fireEvent, screen, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { openPart } from '../../../../tests/client/page.tsx'
import { Dialog } from './Dialog.tsx'
import { Picker } from './Picker.tsx'

test('the list of a picker in a dialog is part of the dialog, and Escape closes the list alone', async () => {
  const onChoose = vi.fn<(value: string) => void>()
  const onClose = vi.fn<() => void>()
  openPart(
    <Dialog open onClose={onClose} title="Add a run" actions={<button>Start run</button>}>
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
