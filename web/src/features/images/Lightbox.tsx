/** Shows images over the whole window: the arrow keys move, Escape closes. A chunk of its own, loaded when an image is first opened. */
import YetAnotherLightbox from 'yet-another-react-lightbox'
import Captions from 'yet-another-react-lightbox/plugins/captions'
import 'yet-another-react-lightbox/styles.css'
import 'yet-another-react-lightbox/plugins/captions.css'
import './lightbox.css'
import { texts } from './texts.ts'
import type { Addressed } from './usePictureAddresses.ts'

interface LightboxProps {
  readonly pictures: readonly Addressed[]
  /** The index of the picture to show first. */
  readonly first: number
  readonly onClose: () => void
}

export function Lightbox({ pictures, first, onClose }: LightboxProps) {
  const loaded = pictures.filter(({ url }) => url !== null)
  const id = pictures[first]?.picture.id
  const index = loaded.findIndex(({ picture }) => picture.id === id)
  return (
    <YetAnotherLightbox
      open
      close={onClose}
      index={Math.max(0, index)}
      slides={loaded.map(({ picture, url }, at) => ({
        src: url ?? '',
        alt: picture.name,
        title: <Caption name={picture.name} position={texts.place(at + 1, loaded.length)} />,
      }))}
      plugins={[Captions]}
      className="lightbox"
      carousel={{ finite: true, preload: 1 }}
      controller={{ closeOnBackdropClick: true }}
      // Keys that are pressed in the viewer must not reach the page below it.
      portal={{ container: { onKeyDown: (event) => event.stopPropagation() } }}
      {...(loaded.length > 1 ? {} : { render: { buttonPrev: nothing, buttonNext: nothing } })}
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

/** A long name is truncated; the position among the images is always shown in full. */
function Caption({ name, position }: { readonly name: string; readonly position: string }) {
  return (
    <span className="flex">
      <span className="truncate">{name}</span>
      <span className="flex-none whitespace-pre text-muted">{position}</span>
    </span>
  )
}

const nothing = () => null
