/** The hooks that the repository defines in its settings for `claude`. The project's owner allows or forbids them. */
import type { RepositoryHook, RepositoryHooks } from '#domain/api/projectSettings.schema.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { useNow } from '../../../ui/hooks.ts'
import { Note } from '../../../ui/layout/Note.tsx'
import { age } from '../../../ui/text/times.ts'
import { ExactText } from '../../../ui/text/ExactText.tsx'
import { SettingsPart, type ProjectSettingsProps, useSave } from './SettingsPart.tsx'
import { refreshAfterSeconds, useProjectRepositoryQuery } from './projectSettingsApi.ts'
import { texts as allTexts } from './texts.ts'

const texts = allTexts.hooks

/** Renders nothing for a repository without hooks, unless hooks were allowed earlier. */
export function HooksPart({ projectId, settings: { allowedHooks: allowed } }: ProjectSettingsProps) {
  const { data } = useProjectRepositoryQuery(projectId, { refetchOnMountOrArgChange: refreshAfterSeconds })
  const { save, busy } = useSave(projectId)
  const now = useNow(30_000)
  const repository = data?.repository
  const hooks = repository?.hooks ?? null
  if (hooks === null && allowed === null) return null
  const shown = hooks?.kind === 'shown' ? hooks : null
  const isAllowed = shown !== null && shown.hash === allowed?.hash
  return (
    <SettingsPart title={texts.title} why={texts.why}>
      {shown && allowed !== null && !isAllowed && <Note kind="warning">{texts.changed}</Note>}
      {repository && hooks === null && <p className="text-ui text-muted">{texts.none}</p>}
      {hooks?.kind === 'refused' && <p className="text-ui text-muted">{texts.refused(hooks.reason)}</p>}
      {shown && <Listed {...shown} />}
      {allowed !== null && (
        <p className="text-ui">{texts.allowed(allowed.hash.slice(0, 12), age(allowed.since, now))}</p>
      )}
      <div className="flex flex-wrap gap-2">
        {shown && !isAllowed && (
          <Button size="touch" busy={busy} onClick={() => void save({ allowedHooks: { hash: shown.hash } })}>
            {texts.allow}
          </Button>
        )}
        {allowed !== null && (
          <Button kind="danger" size="touch" busy={busy} onClick={() => void save({ allowedHooks: null })}>
            {texts.forbid}
          </Button>
        )}
      </div>
    </SettingsPart>
  )
}

function Listed({ hash, hooks }: Extract<RepositoryHooks, { kind: 'shown' }>) {
  return (
    <div>
      <ul className="divide-y divide-line-soft border-y border-line-soft">
        {hooks.map((one, index) => (
          // Two hooks can be equal, so only the index identifies a hook.
          <li key={index} className="py-2">
            <p className="text-meta text-muted wrap-anywhere">
              <ExactText text={whenOf(one)} />
            </p>
            <pre className="mt-1 font-mono text-meta whitespace-pre-wrap wrap-anywhere">
              <ExactText text={one.hook.command} />
            </pre>
          </li>
        ))}
      </ul>
      <p className="mt-2 text-meta text-muted wrap-anywhere">
        {texts.hash} <code>{hash}</code>
      </p>
    </div>
  )
}

function whenOf({ event, matcher = '', hook }: RepositoryHook): string {
  return [event, matcher, hook.if === undefined ? '' : texts.onlyIf(hook.if)]
    .filter((part) => part !== '')
    .join(' · ')
}
