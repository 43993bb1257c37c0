/** The files that an agent left for people in a turn: images as pictures, all others as cards, a video also with a player. */
import { Download, FileText, Film } from 'lucide-react'
import { useState } from 'react'
import { artifactLimits, isImageType } from '#domain/api/artifacts.ts'
import type { LogDocument } from '#domain/views/commandLog.ts'
import { Pictures } from '../../images/Pictures.tsx'
import { sizeText } from '../../images/texts.ts'
import { useReplayed } from '../replayContext.ts'
import { useArtifactAddressesQuery } from './artifactsApi.ts'
import { texts } from './texts.ts'

/** The interval between reads of the addresses, in milliseconds. An address is valid for at least ten minutes. */
const refreshMs = 5 * 60_000

export function Artifacts({ log: { task: taskId, artifacts = [] } }: { readonly log: LogDocument }) {
  const isSaved = useReplayed()?.isSaved === true
  const images = artifacts.flatMap(({ id, name, type, size, url = null }) =>
    name !== null && isImageType(type) ? [{ id, name, type, size, url }] : [],
  )
  const others = artifacts.filter(({ name, type }) => name === null || !isImageType(type))
  const count = others.length
  const { data } = useArtifactAddressesQuery(
    { taskId, count },
    { skip: count === 0 || isSaved, pollingInterval: refreshMs },
  )
  return (
    <section aria-label={texts.label} className="my-1.5 grid gap-1.5 md:pl-7">
      {images.length > 0 && (
        <Pictures
          taskId={taskId}
          pictures={images}
          layout={images.length === 1 ? 'single' : 'grid'}
          most={artifactLimits.perTurn}
        />
      )}
      {others.map((artifact) => (
        <Artifact
          key={artifact.id}
          artifact={artifact}
          url={isSaved ? null : (data?.[artifact.id] ?? artifact.url ?? null)}
          isSaved={isSaved}
        />
      ))}
    </section>
  )
}

interface ArtifactProps {
  readonly artifact: NonNullable<LogDocument['artifacts']>[number]
  /** The address of the file; `null` while it is unknown, and in a saved replay. */
  readonly url: string | null
  readonly isSaved: boolean
}

function Artifact({ artifact: { name, type, size }, url, isSaved }: ArtifactProps) {
  if (name === null) return <p className="text-muted">{texts.erased}</p>
  const isVideo = type.startsWith('video/')
  const Icon = isVideo ? Film : FileText
  return (
    <div className="grid gap-1.5">
      {isVideo && url !== null && <Video name={name} url={url} />}
      <div className="flex h-11 items-center gap-2 rounded-control border border-line bg-panel pl-3 text-ui">
        <Icon className="size-3.5 flex-none text-muted" />
        <span className="min-w-0 flex-1 truncate font-mono text-code tracking-normal" title={name}>
          {type === 'text/plain' && url !== null ? (
            <a
              href={url}
              target="_blank"
              rel="noreferrer"
              aria-label={texts.open(name)}
              className="focus-inset text-accent hover:underline"
            >
              {name}
            </a>
          ) : (
            name
          )}
        </span>
        <span className="flex-none text-meta text-muted">{isSaved ? texts.notSaved : sizeText(size)}</span>
        {url !== null ? (
          <a
            href={url}
            download={name.split('/').at(-1)}
            aria-label={texts.download(name)}
            title={texts.download(name)}
            className="focus-inset grid size-11 flex-none place-items-center rounded-control text-muted transition-colors hover:bg-raised hover:text-text"
          >
            <Download className="size-3.5" />
          </a>
        ) : (
          <span className="w-1" />
        )}
      </div>
    </div>
  )
}

/** A video keeps its first address until that address fails, because a new one would start the video again. */
function Video({ name, url }: { readonly name: string; readonly url: string }) {
  const [source, setSource] = useState(url)
  return (
    // oxlint-disable-next-line jsx-a11y/media-has-caption -- nobody made captions for what an agent recorded
    <video
      controls
      preload="metadata"
      src={source}
      aria-label={name}
      onError={() => setSource(url)}
      className="max-h-80 max-w-full rounded-control border border-line bg-panel"
    />
  )
}
