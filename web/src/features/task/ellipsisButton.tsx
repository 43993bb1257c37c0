import { Ellipsis } from 'lucide-react'
import type { ComponentProps } from 'react'
import { IconButton } from '../../ui/form/IconButton.tsx'
import type { MenuButtonProps } from '../../ui/overlay/Menu.tsx'

/** The button of a menu with further actions. */
export const ellipsisButton =
  (style: Pick<ComponentProps<typeof IconButton>, 'label' | 'size' | 'className'>) =>
  (props: MenuButtonProps) => <IconButton icon={Ellipsis} {...style} {...props} />
