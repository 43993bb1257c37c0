/** Says over the whole of what it lies on that images can be dropped there. */
import { ImagePlus } from 'lucide-react'
import { texts } from './texts.ts'

export function DropHint({ most }: { readonly most: number }) {
  return (
    <div className="pointer-events-none absolute inset-1 z-10 flex animate-appear items-center justify-center gap-2 rounded-control border-2 border-dashed border-accent bg-select text-ui font-medium">
      <ImagePlus />
      {texts.drop(most)}
    </div>
  )
}
