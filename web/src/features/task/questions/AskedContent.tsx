/** The content of a question, without the means to answer it. */
import type { QuestionDocument } from '#domain/views/questions.ts'
import { classes } from '../../../ui/classes.ts'
import { MarkdownText } from '../chat/entries/MessageBody.tsx'
import { texts } from './texts.ts'

export function AskedContent({ question }: { readonly question: QuestionDocument }) {
  const { kind, body, options, fields } = question
  const text = body ?? ''
  const isChoice = kind === 'question'
  return (
    <>
      {text !== '' &&
        (kind === 'permission' ? (
          <Exact text={text} label={texts.permission.what(question.title ?? '')} />
        ) : (
          <div data-searched="">
            <MarkdownText text={text} />
          </div>
        ))}
      {isChoice && options.length > 0 && (
        <ul className="grid list-disc gap-1 pl-5">
          {options.map(({ value, label, description }) => (
            <li key={value} className="wrap-anywhere">
              <span className="font-medium">{label}</span>
              {description !== '' && <span className="text-muted"> {description}</span>}
            </li>
          ))}
        </ul>
      )}
      {fields.length > 0 && kind === 'form' && (
        <ul className="grid list-disc gap-1 pl-5">
          {fields.map(({ name, label, required }) => (
            <li key={name}>{required ? texts.form.required(label) : label}</li>
          ))}
        </ul>
      )}
    </>
  )
}

const fenced = /^(`{3,}|~{3,})(\w*)[^\n]*\n([\s\S]*?)\n?\1\s*$/

/**
 * Shows a command or a diff exactly. If the text is one code block, only its code is shown; if it merely contains code blocks, it is rendered as
 * Markdown.
 */
function Exact({ text, label }: { readonly text: string; readonly label: string }) {
  const [, , language, code] = fenced.exec(text.trim()) ?? []
  if (code === undefined && /^(?:```|~~~)/m.test(text)) return <MarkdownText text={text} />
  const shown = code ?? text
  const isDiff = language === 'diff' || /^(?:@@ |--- |\+\+\+ |diff )/m.test(shown)
  return (
    <pre
      role="region"
      aria-label={label}
      data-searched=""
      tabIndex={0}
      className={classes(
        'max-h-80 overflow-auto rounded-control border border-line-soft bg-raised py-2 font-mono text-code tracking-normal',
        isDiff ? 'whitespace-pre' : 'px-3 wrap-anywhere whitespace-pre-wrap',
      )}
    >
      {isDiff
        ? shown.split('\n').map((line, index) => (
            // The index is the key, because lines have no id.
            // oxlint-disable-next-line react/no-array-index-key
            <span key={index} className={classes('block min-w-max px-3', lineColour(line))}>
              {line === '' ? ' ' : line}
            </span>
          ))
        : shown}
    </pre>
  )
}

function lineColour(line: string): string {
  if (/^(?:---|\+\+\+|@@|diff )/.test(line)) return 'text-muted'
  if (line.startsWith('+')) return 'bg-add-bg'
  return line.startsWith('-') ? 'bg-del-bg' : ''
}
