// @vitest-environment jsdom
import { fireEvent, screen, within } from '@testing-library/react'
import { Copy } from 'lucide-react'
import { expect, test } from 'vitest'
import { openPart } from '../../../../tests/client/page.tsx'
import { IconButton } from '../form/IconButton.tsx'
import { Dialog } from './Dialog.tsx'

test('the name of an icon in a dialog is shown in the dialog, which would cover it', async () => {
  openPart(
    <Dialog open onClose={() => undefined} title="Audit" actions={<button>Close</button>}>
      <IconButton icon={Copy} label="Copy the command" />
    </Dialog>,
  )
  const dialog = within(screen.getByRole('dialog', { name: 'Audit' }))
  fireEvent.pointerEnter(dialog.getByRole('button', { name: 'Copy the command' }), { pointerType: 'mouse' })
  expect(await dialog.findByText('Copy the command')).toBeTruthy()
})
