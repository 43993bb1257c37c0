/** The HTML of the pages about Apps. */
import { html } from '#platform/http/html.ts'
import type { Html } from '#platform/http/html.ts'
import type { Manifest } from '../apps/manifest.ts'
import { permissionNames } from '../apps/permissions.ts'
import type { App, Permissions } from '../state.ts'

/** A name such as `pull_requests` in the form for people. */
export const words = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')

/** A list of permissions, each with its level. */
export const permissionList = (permissions: Permissions): Html =>
  html`<ul class="panel">
    ${Object.entries(permissions).map(
      ([name, level]) =>
        html`<li class="row"><span class="grow">${words(name)}</span><span class="chip">${level}</span></li>`,
    )}
  </ul>`

export const appPage = (app: App): Html =>
  html`<div class="stack">
      <h1>${app.name}</h1>
      ${app.description !== null && html`<p class="muted">${app.description}</p>`}
      <p class="muted small">Registered by ${app.owner}. Its home page is ${app.homepage}.</p>
    </div>
    <p class="buttons">
      <a class="button primary" href="${`/apps/${app.slug}/installations/new`}">Install or configure</a>
    </p>
    <section class="stack">
      <h2>Permissions</h2>
      ${permissionList(app.permissions)}
    </section>`

export const refusedManifestPage = (faults: readonly string[]): Html =>
  html`<div class="stack">
      <h1>The App cannot be registered</h1>
      <p class="muted">What the other site sent is not accepted.</p>
    </div>
    <ul class="stack">
      ${faults.map((fault) => html`<li class="alert" role="alert">${fault}</li>`)}
    </ul>
    <p class="muted small">
      If you had to sign in first, what was sent is lost: go back to where you came from and try again.
    </p>`

export const confirmPage = (page: {
  readonly action: string
  readonly owner: string
  readonly manifest: Manifest
  /** The manifest as it was sent. */
  readonly text: string
  readonly state: string | undefined
  readonly name: string
  readonly error: string | undefined
}): Html =>
  html`<div class="stack">
      <h1>Register a GitHub App</h1>
      <p class="muted">
        ${page.manifest.url} asks to register an App under ${page.owner}. It is installed on no repository by
        that.
      </p>
    </div>
    ${page.error !== undefined && html`<p class="alert" role="alert">${page.error}</p>`}
    <form class="blocks" method="post" action="${page.action}">
      <input type="hidden" name="manifest" value="${page.text}" />
      ${page.state !== undefined && html`<input type="hidden" name="state" value="${page.state}" />`}
      <p class="stack">
        <label class="strong" for="name">Name of the App</label>
        <input type="text" id="name" name="name" value="${page.name}" maxlength="34" required />
      </p>
      <section class="stack">
        <h2>Permissions</h2>
        ${permissionList({ metadata: 'read', ...page.manifest.default_permissions })}
      </section>
      <p class="muted small">
        ${
          page.manifest.hook_attributes
            ? `It is told what happens at ${page.manifest.hook_attributes.url}.`
            : 'It has no webhook.'
        }
      </p>
      <button class="button primary" type="submit">Create GitHub App for ${page.owner}</button>
    </form>`

export const permissionsPage = (app: App, path: string): Html =>
  html`<div class="stack">
      <h1>Permissions of ${app.name}</h1>
      <p class="muted">Who has installed the App is asked to accept what is added.</p>
    </div>
    <form class="blocks" method="post" action="${`${path}/permissions`}">
      <ul class="panel">
        ${permissionNames
          .filter((name) => name !== 'metadata')
          .map(
            (name) =>
              html`<li class="row">
                <label class="grow" for="${name}">${words(name)}</label>
                <select id="${name}" name="${name}">
                  ${['none', 'read', 'write'].map(
                    (level) =>
                      html`<option
                        value="${level}"
                        ${(app.permissions[name] ?? 'none') === level && html`selected`}
                      >
                        ${level}
                      </option>`,
                  )}
                </select>
              </li>`,
          )}
      </ul>
      <button class="button primary" type="submit">Save changes</button>
    </form>
    ${
      app.hook !== null &&
      html`<form class="stack" method="post" action="${`${path}/hook`}">
        <h2>Webhook</h2>
        <p class="muted">${app.hook.url}</p>
        <label class="choice"
          ><input type="checkbox" name="active" ${app.hook.active && html`checked`} /> Active</label
        >
        <button class="button" type="submit">Save webhook</button>
      </form>`
    }`

export const authorizationsPage = (apps: readonly App[]): Html =>
  html`<div class="stack">
      <h1>Authorized Apps</h1>
      <p class="muted">Apps that may act for you.</p>
    </div>
    ${
      apps.length === 0
        ? html`<p class="muted">There is none.</p>`
        : html`<ul class="panel">
            ${apps.map(
              (app) =>
                html`<li class="row">
                  <span class="grow strong">${app.name}</span>
                  <form method="post" action="${`/settings/apps/authorizations/${app.clientId}/revoke`}">
                    <button class="button" type="submit">Revoke ${app.name}</button>
                  </form>
                </li>`,
            )}
          </ul>`
    }`
