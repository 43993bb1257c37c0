/** Which issues of the project's repository become tasks, and the latest decisions about issues. */
import { useState } from 'react'
import { Link } from 'react-router-dom'
import type { ShownSettings } from '#domain/api/projectSettings.schema.ts'
import { issueLimits } from '#domain/project/issueRule.ts'
import { Checkbox, Choice } from '../../../ui/form/Choice.tsx'
import { Field } from '../../../ui/form/Field.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { safeLink } from '../../../ui/text/safeLink.ts'
import { type ProjectSettingsProps, SettingsForm, useSettingsForm } from './SettingsPart.tsx'
import { texts } from './texts.ts'

const modes = (['off', 'on'] as const).map((value) => ({ value, label: texts.issues.modes[value] }))

export function IssuesPart(part: ProjectSettingsProps) {
  const { issues, issueDecisions, issuesUnread } = part.settings
  const [rule, setRule] = useState(issues)
  const form = useSettingsForm(part, { issues: rule }, { issues: { ...rule, label: rule.label.trim() } })
  return (
    <SettingsForm
      form={form}
      title={texts.issues.title}
      why={texts.issues.why}
      after={
        (issues.on || issueDecisions.length > 0) && (
          <Latest decisions={issueDecisions} unread={issuesUnread} />
        )
      }
    >
      <Choice
        label={texts.issues.mode}
        options={modes}
        chosen={rule.on ? 'on' : 'off'}
        onChoose={(mode) => setRule({ ...rule, on: mode === 'on' })}
      />
      {rule.on && (
        <>
          <Field
            label={texts.issues.label}
            help={texts.issues.labelHelp}
            required
            maxCharacters={issueLimits.labelLength}
            value={rule.label}
            error={form.refused?.field?.includes('label') ? form.refused.message : undefined}
            onChange={({ target }) => setRule({ ...rule, label: target.value })}
          />
          <Checkbox checked={rule.mentions} onChange={(mentions) => setRule({ ...rule, mentions })}>
            {texts.issues.mentions}
          </Checkbox>
        </>
      )}
    </SettingsForm>
  )
}

type Decision = ShownSettings['issueDecisions'][number]

interface LatestProps {
  readonly decisions: readonly Decision[]
  readonly unread: ShownSettings['issuesUnread']
}

function Latest({ decisions, unread }: LatestProps) {
  return (
    <section className="mt-5" aria-label={texts.issues.latest}>
      <h3 className="text-ui font-medium">{texts.issues.latest}</h3>
      {unread !== null && (
        <Note kind="error" className="mt-1.5">
          {texts.issues.unread} <time dateTime={unread.since}>{new Date(unread.since).toLocaleString()}</time>
          . {unread.reason}
        </Note>
      )}
      {unread === null && decisions.length === 0 && (
        <p className="mt-1.5 text-ui text-muted">{texts.issues.none}</p>
      )}
      {decisions.length > 0 && (
        <ul className="mt-1.5 divide-y divide-line border-y border-line">
          {decisions.map((decision) => (
            <li key={decision.url} className="py-2 text-ui">
              <DecisionLine decision={decision} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function DecisionLine({ decision }: { readonly decision: Decision }) {
  const { number, title, url, taskId, trigger, author, outcome, reason } = decision
  const href = safeLink(url)
  const name = `#${number} ${title}`
  return (
    <>
      <p className="font-medium wrap-anywhere">
        {href === null ? (
          name
        ) : (
          <a href={href} target="_blank" rel="noreferrer" className="hover:underline">
            {name}
          </a>
        )}
      </p>
      <p className="text-meta wrap-anywhere text-muted">
        {texts.issues.outcomes[outcome]}
        {reason !== null && ` ${reason}`}
        {trigger !== null && author !== null && ` ${texts.issues.askedBy(trigger, author)}`}
        {outcome === 'made' && taskId !== null && (
          <>
            {' '}
            <Link to={`/tasks/${taskId}`} className="text-accent underline">
              {texts.issues.openTask}
            </Link>
          </>
        )}
      </p>
    </>
  )
}
