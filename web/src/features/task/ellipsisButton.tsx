import { Ellipsis } from 'lucide-react'
import type { ComponentProps } from 'react'
import { IconButton } from '../../ui/form/IconButton.tsx'
import type { MenuButtonProps } from '../../ui/overlay/Menu.tsx'

/** A button with three dots, which opens a menu of further actions. */
export const ellipsisButton =
  (style: Pick<ComponentProps<typeof IconButton>, 'label' | 'size' | 'className'>) =>
  (props: MenuButtonProps) => <IconButton icon={Ellipsis} {...style} {...props} />
