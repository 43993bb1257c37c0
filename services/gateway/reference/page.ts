/** The OpenAPI document as an HTML page: one file without scripts, in the light or dark scheme of the browser. */
import type { OpenApi, Operation, Parameter } from './openapi.ts'
import { html, type Html } from '#platform/http/html.ts'
import type { z } from 'zod'

type Schemas = OpenApi['components']['schemas']

interface AddressedOperation {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** The HTML of the whole page. */
export function referencePage(document: OpenApi): string {
  const { info, tags, paths, components } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): AddressedOperation => ({ path, method, operation })),
  )
  const under = (tag: string) => operations.filter(({ operation }) => operation.tags.includes(tag))
  const names = Object.keys(components.schemas)
    .filter((name) => !name.endsWith('Answer'))
    .toSorted()
  const title = `${String(info['title'])} API`
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="/favicon.svg" />
        <style>
          ${{ html: style }}
        </style>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the reference</a>
        <nav aria-label="Contents" tabindex="0">
          <p class="brand"><a href="/">Flightdeck</a> <span>API</span></p>
          ${tags.map(
            ({ name }) =>
              html`<p class="tag">${name}</p>
                <ul>
                  ${under(name).map(contentsLine)}
                </ul>`,
          )}
          <p class="tag">Schemas</p>
          <ul>
            ${names.map((name) => html`<li><a href="#schema-${name}">${name}</a></li>`)}
          </ul>
        </nav>
        <main id="content">
          <h1>${title} <small>${String(info['version'])}</small></h1>
          ${markedUp(String(info['description']))}
          <p>For programs: <a href="/api/openapi.json">the same as OpenAPI 3.1</a>.</p>
          ${tags.map(
            ({ name, description }) =>
              html`<section aria-labelledby="tag-${name}">
                <h2 id="tag-${name}">${name}</h2>
                <p>${description}</p>
                ${under(name).map((placed) => operationArticle(placed, components.schemas))}
              </section>`,
          )}
          <section aria-labelledby="schemas">
            <h2 id="schemas">Schemas</h2>
            ${names.map(
              (name) =>
                html`<article id="schema-${name}">
                  <h3>${name}</h3>
                  ${schemaLines(components.schemas[name] ?? {})}
                </article>`,
            )}
          </section>
        </main>
      </body>
    </html> `
  return page.html
}

function contentsLine({ method, operation }: AddressedOperation): Html {
  return html`<li><a href="#${operation.operationId}">${badge(method)} ${operation.summary}</a></li>`
}

const badge = (method: string): Html => html`<span class="method ${method}">${method.toUpperCase()}</span>`

function operationArticle({ path, method, operation }: AddressedOperation, schemas: Schemas): Html {
  const [done, ...refused] = Object.entries(operation.responses)
  return html`<article id="${operation.operationId}">
    <h3>${operation.summary}</h3>
    <p class="address">${badge(method)} <code>${path}</code></p>
    <p class="who">${operation.security.length > 0 ? 'Requires a signed-in user.' : 'Public.'}</p>
    ${parameterTable(operation.parameters)} ${contentOf('Body', operation.requestBody?.content, schemas)}
    ${done && (contentOf(`Answer ${done[0]}`, done[1].content, schemas) ?? html`<p>${done[0]}: ${done[1].description}</p>`)}
    <details>
      <summary>Refusals</summary>
      <dl>
        ${refused.map(
          ([status, { description }]) =>
            html`<dt>${status}</dt>
              <dd>${markedUp(description)}</dd>`,
        )}
      </dl>
    </details>
  </article>`
}

function parameterTable(parameters: readonly Parameter[]): Html | undefined {
  if (parameters.length === 0) return undefined
  return html`<table>
    <caption>
      Parameters
    </caption>
    <tbody>
      ${parameters.map(
        ({ name, in: where, required, description, schema }) =>
          html`<tr>
            <th scope="row"><code>${name}</code></th>
            <td>${where}${required && ', required'}</td>
            <td>${schemaLines(schema)} ${description}</td>
          </tr>`,
      )}
    </tbody>
  </table>`
}

function contentOf(
  title: string,
  content: NonNullable<Operation['requestBody']>['content'] | undefined,
  schemas: Schemas,
): Html | undefined {
  const [shown] = Object.entries(content ?? {})
  if (!shown) return undefined
  const [type, { schema }] = shown
  return html`<h4>${title} <small>${type}</small></h4>
    ${schemaLines(answerIn(schema, schemas) ?? schema)}`
}

/** The schema of an answer, which is shown with its call. The schemas that it refers to have their own section. */
function answerIn({ $ref }: Schemas[string], schemas: Schemas): Schemas[string] | undefined {
  const name = $ref?.slice($ref.lastIndexOf('/') + 1)
  return name?.endsWith('Answer') ? schemas[name] : undefined
}

/** Paragraphs of our own texts, which use only `code` and **strong** of Markdown. */
function markedUp(text: string): readonly Html[] {
  return text.split('\n\n').map(
    (paragraph) =>
      html`<p>
        ${paragraph.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece) => {
          if (piece.startsWith('`')) return html`<code>${piece.slice(1, -1)}</code>`
          return piece.startsWith('**') ? html`<strong>${piece.slice(2, -2)}</strong>` : piece
        })}
      </p>`,
  )
}

type Schema = z.core.JSONSchema.JSONSchema

/** The schema of a member. JSON Schema also allows `true`, `false` or a list here; these become `{}`, but our schemas have none of them. */
const schemaOf = (member: Schema['items']): Schema =>
  typeof member === 'object' && !Array.isArray(member) ? member : {}

/** The schema as HTML. Named schemas are links to their section. */
function schemaLines(schema: Schema): Html {
  const members = Object.entries(schema.properties ?? {})
  if (members.length === 0) return html`<span class="type">${word(schema)}</span>${inner(schema)}`
  return html`<ul class="members">
    ${members.map(
      ([name, member]) =>
        html`<li>
          <code>${name}</code> ${!schema.required?.includes(name) && html`<em>optional</em>`}
          ${schemaLines(schemaOf(member))}
        </li>`,
    )}
  </ul>`
}

/** The lines of the schemas that are nested in this schema and have members. */
function inner({ items, anyOf, oneOf }: Schema): readonly Html[] {
  return [schemaOf(items), ...(anyOf ?? oneOf ?? [])].filter(({ properties }) => properties).map(schemaLines)
}

function word(schema: Schema): Html {
  const { $ref, type, items, anyOf, oneOf } = schema
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return either(schema.enum.map(literal))
  const choices = anyOf ?? oneOf
  if (choices) return either(choices.map(word))
  if (items)
    return html`list of
    ${word(schemaOf(items))}${schema.maxItems !== undefined && `, at most ${schema.maxItems}`}`
  const base = [type ?? 'anything'].flat().join(' or ')
  return html`${[schema.format ?? base, ...boundsOf(schema)].join(', ')}`
}

function boundsOf(schema: Schema): readonly string[] {
  const { minLength, maxLength, minimum, maximum } = schema
  return [
    ...(minLength === undefined ? [] : [`at least ${minLength} characters`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? [] : [`from ${minimum}`]),
    ...(maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? [] : [`to ${maximum}`]),
    ...(schema.default === undefined ? [] : [`${JSON.stringify(schema.default)} unless told`]),
  ]
}

const either = (choices: readonly Html[]): Html =>
  html`${choices.map((choice, index) => (index === 0 ? choice : html` or ${choice}`))}`

const literal = (value: unknown): Html => html`<code>${JSON.stringify(value)}</code>`

/** The style of the page: the client's colours, without its style sheet. */
const style = `
:root{color-scheme:light dark;--page:#fbfbfc;--card:#fff;--line:#d9dce2;--text:#16181d;--muted:#5b6270;--link:#4a45c9;--get:#146c38;--post:#0b5cad;--put:#835200;--delete:#b3261e}
@media (prefers-color-scheme:dark){:root{--page:#0e1013;--card:#15181d;--line:#2b3038;--text:#eceef1;--muted:#a3abb8;--link:#a9a6ff;--get:#5fd38d;--post:#79b8ff;--put:#f0b849;--delete:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;display:grid;grid-template-columns:19rem minmax(0,1fr);background:var(--page);color:var(--text);font:15px/1.55 ui-sans-serif,system-ui,sans-serif}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.25rem;border-right:1px solid var(--line);background:var(--card);font-size:13px}
nav .tag{margin:1.25rem 0 .25rem;font-size:11px;letter-spacing:.05em;text-transform:uppercase;color:var(--muted)}
nav ul{list-style:none;margin:0;padding:0}nav li a{display:block;padding:.2rem 0;color:inherit}
.brand{margin:0;font-weight:600;font-size:15px}.brand span{color:var(--muted);font-weight:400}
main{padding:2rem;max-width:60rem}
h1{font-size:1.6rem;margin:0 0 1rem}h1 small,h4 small{color:var(--muted);font-weight:400}
main h2{margin:2.5rem 0 .25rem;font-size:1.2rem}
article{margin:1rem 0;padding:1.25rem;background:var(--card);border:1px solid var(--line);border-radius:10px;scroll-margin-top:1rem}
article:target{border-color:var(--link)}
h3{margin:0 0 .5rem;font-size:1rem}h4{margin:1rem 0 .25rem;font-size:.85rem}
code{font:13px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
.address{margin:0}.who{margin:.25rem 0;color:var(--muted);font-size:13px}
.method{font:600 11px/1 ui-monospace,monospace;display:inline-block;min-width:3.2em}
.get{color:var(--get)}.post{color:var(--post)}.put{color:var(--put)}.delete{color:var(--delete)}
table{width:100%;border-collapse:collapse;font-size:13px;margin-top:.75rem}
caption{text-align:left;font-weight:600;padding-bottom:.25rem}
th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;border-top:1px solid var(--line);font-weight:400}
td p{margin:0}th code{white-space:nowrap}
.members{list-style:none;margin:.25rem 0;padding-left:.9rem;border-left:1px solid var(--line);font-size:13px}
.members em{color:var(--muted)}.type{color:var(--muted)}
details{margin-top:.75rem;font-size:13px}summary{cursor:pointer;color:var(--muted)}
dl{display:grid;grid-template-columns:3rem 1fr;gap:.25rem .5rem;margin:.5rem 0 0}dd,dd p{margin:0}
@media (max-width:48rem){body{display:block}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line)}main{padding:1rem}th,td{display:block;border:0;padding:0}tr{display:block;padding:.4rem 0;border-top:1px solid var(--line)}}
`
