/** Images over the whole window: arrow keys walk, Escape closes. A chunk of its own, loaded when one is first opened. */
import YetAnotherLightbox from 'yet-another-react-lightbox'
import Captions from 'yet-another-react-lightbox/plugins/captions'
import 'yet-another-react-lightbox/styles.css'
import 'yet-another-react-lightbox/plugins/captions.css'
import './lightbox.css'
import { texts } from './texts.ts'
import type { Addressed } from './usePictureAddresses.ts'

interface LightboxProps {
  readonly pictures: readonly Addressed[]
  /** The one that is shown first. */
  readonly first: number
  readonly onClose: () => void
}

export function Lightbox({ pictures, first, onClose }: LightboxProps) {
  const shown = pictures.filter(({ url }) => url !== null)
  const id = pictures[first]?.picture.id
  const index = Math.max(
    0,
    shown.findIndex(({ picture }) => picture.id === id),
  )
  return (
    <YetAnotherLightbox
      open
      close={onClose}
      index={index}
      slides={shown.map(({ picture, url }, at) => ({
        src: url ?? '',
        alt: picture.name,
        title: <Caption name={picture.name} place={texts.place(at + 1, shown.length)} />,
      }))}
      plugins={[Captions]}
      className="lightbox"
      carousel={{ finite: true, preload: 1 }}
      controller={{ closeOnBackdropClick: true }}
      // Keys are for what lies over the page, not for the page.
      portal={{ container: { onKeyDown: (event) => event.stopPropagation() } }}
      {...(shown.length > 1 ? {} : { render: { buttonPrev: nothing, buttonNext: nothing } })}
      labels={{
        Lightbox: texts.viewer,
        'Photo gallery': texts.viewer,
        Previous: texts.previous,
        Next: texts.next,
        Close: texts.close,
      }}
    />
  )
}

/** A long name is cut, and never which of how many it is. */
function Caption({ name, place }: { readonly name: string; readonly place: string }) {
  return (
    <span className="flex">
      <span className="truncate">{name}</span>
      <span className="flex-none whitespace-pre text-muted">{place}</span>
    </span>
  )
}

function nothing(): null {
  return null
}
