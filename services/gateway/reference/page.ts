/** The OpenAPI document as a page to read: no script, one file, light and dark as the browser has it. */
import type { OpenApi, Operation, Parameter } from './openapi.ts'
import { html, type Html } from '#platform/http/html.ts'
import { schemaLines } from './schema.ts'
import { style } from './style.ts'

type Schemas = OpenApi['components']['schemas']

interface Placed {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** The whole page. */
export function referencePage(document: OpenApi): string {
  const { info, tags, paths, components } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Placed => ({ path, method, operation })),
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

function contentsLine({ method, operation }: Placed): Html {
  return html`<li><a href="#${operation.operationId}">${badge(method)} ${operation.summary}</a></li>`
}

const badge = (method: string): Html => html`<span class="method ${method}">${method.toUpperCase()}</span>`

function operationArticle({ path, method, operation }: Placed, schemas: Schemas): Html {
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

/** An answer is shown where it is given; what it is made of has a place of its own. */
function answerIn({ $ref }: Schemas[string], schemas: Schemas): Schemas[string] | undefined {
  const name = $ref?.slice($ref.lastIndexOf('/') + 1)
  return name?.endsWith('Answer') ? schemas[name] : undefined
}

/** Paragraphs with `code` and **strong**: the Markdown that our own sentences use. */
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
