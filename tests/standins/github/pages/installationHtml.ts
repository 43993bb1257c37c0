/** The HTML of the pages about installations. */
import { html } from '#platform/http/html.ts'
import type { Html } from '#platform/http/html.ts'
import type { Owner } from '../../../../services/codehost/state/accounts.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { App, Installation } from '../state.ts'
import { permissionList } from './appHtml.ts'

const accountLabel = (account: Owner): Html =>
  html`<img class="avatar" src="${`/avatars/${account.login}`}" alt="" width="32" height="32" />
    <span class="grow"
      ><span class="strong">${account.name}</span><br /><span class="muted small"
        >${account.login}</span
      ></span
    >`

/** The page on which a person chooses the account. */
export const choosePage = (
  app: App,
  places: readonly { readonly place: Owner; readonly address: string; readonly isThere: boolean }[],
): Html =>
  html`<div class="stack">
      <h1>Install ${app.name}</h1>
      <p class="muted">Where do you want to install it?</p>
    </div>
    <ul class="panel">
      ${places.map(
        ({ place, address, isThere }) =>
          html`<li>
            <a class="row" href="${address}"
              >${accountLabel(place)}${isThere && html`<span class="ok">Installed: configure</span>`}</a
            >
          </li>`,
      )}
    </ul>`

const choices = (repositories: readonly Repository[], chosen: readonly number[] | null): Html =>
  html`<fieldset class="panel">
    <legend class="unseen">Repository access</legend>
    <div class="body stack">
      <label class="choice"
        ><input type="radio" name="selection" value="all" ${chosen === null && html`checked`} /> All
        repositories</label
      >
      <label class="choice"
        ><input type="radio" name="selection" value="selected" ${chosen !== null && html`checked`} /> Only
        select repositories</label
      >
    </div>
    ${repositories.map(
      ({ id, owner, name, isPrivate }) =>
        html`<label class="row choice"
          ><input
            type="checkbox"
            name="repository"
            value="${id}"
            ${chosen?.includes(id) === true && html`checked`}
          />
          <span class="grow">${owner}/${name}</span
          >${isPrivate && html`<span class="chip">Private</span>`}</label
        >`,
    )}
  </fieldset>`

export const installPage = (page: {
  readonly app: App
  readonly target: Owner
  readonly state: string | undefined
  readonly isOwner: boolean
  readonly repositories: readonly Repository[]
}): Html =>
  html`<div class="stack">
      <h1>Install ${page.app.name} for ${page.target.login}</h1>
      ${
        !page.isOwner &&
        html`<p class="muted">
          Only owners of ${page.target.login} install Apps. Your request is sent to them.
        </p>`
      }
    </div>
    <form class="blocks" method="post" action="${`/apps/${page.app.slug}/installations`}">
      <input type="hidden" name="target_id" value="${page.target.id}" />
      ${page.state !== undefined && html`<input type="hidden" name="state" value="${page.state}" />`}
      ${page.isOwner && choices(page.repositories, null)}
      <section class="stack">
        <h2>Permissions</h2>
        ${permissionList(page.app.permissions)}
      </section>
      <button class="button primary" type="submit">${page.isOwner ? 'Install' : 'Request'}</button>
    </form>`

export const requestedPage = (app: App, target: Owner): Html =>
  html`<div class="stack">
    <h1>Requested</h1>
    <p class="muted">The owners of ${target.login} are asked to install ${app.name}.</p>
  </div>`

const button = (path: string, label: string, look = ''): Html =>
  html`<form method="post" action="${path}">
    <button class="${`button ${look}`.trim()}" type="submit">${label}</button>
  </form>`

export const installationPage = (page: {
  readonly app: App
  readonly installation: Installation
  readonly owner: Owner
  readonly path: string
  readonly repositories: readonly Repository[]
  /** Whether the App requests more than was granted. */
  readonly asksMore: boolean
}): Html =>
  html`<div class="stack">
      <h1>${page.app.name}</h1>
      <p class="muted">Installed for ${page.owner.login}.</p>
      ${
        page.installation.suspended !== null &&
        html`<p class="alert" role="status">It is suspended: the App reaches nothing here.</p>`
      }
    </div>
    ${
      page.asksMore &&
      html`<section class="stack">
        <h2>${page.app.name} asks for more permissions</h2>
        ${permissionList(page.app.permissions)}
        ${button(`${page.path}/permissions`, 'Accept new permissions', 'primary')}
      </section>`
    }
    <form class="stack" method="post" action="${`${page.path}/repositories`}">
      <h2>Repository access</h2>
      ${choices(page.repositories, page.installation.repositoryIds)}
      <button class="button primary" type="submit">Save</button>
    </form>
    <section class="stack">
      <h2>Permissions</h2>
      ${permissionList(page.installation.permissions)}
    </section>
    <div class="buttons">
      ${
        page.installation.suspended === null
          ? button(`${page.path}/suspend`, 'Suspend')
          : button(`${page.path}/unsuspend`, 'Unsuspend')
      }
      ${button(`${page.path}/uninstall`, 'Uninstall')}
    </div>`

export const installationsPage = (page: {
  readonly owner: Owner
  readonly path: string
  readonly installed: readonly (Installation & { readonly app: App })[]
  readonly requests: readonly { readonly id: number; readonly requester: string; readonly app: App }[]
}): Html =>
  html`<h1>Apps of ${page.owner.login}</h1>
    ${
      page.requests.length > 0 &&
      html`<section class="stack">
        <h2>Requested by members</h2>
        <ul class="panel">
          ${page.requests.map(
            ({ id, requester, app }) =>
              html`<li class="row">
                <span class="grow">${requester} asks for ${app.name}</span>
                <a
                  class="button primary"
                  href="${`/apps/${app.slug}/installations/new?target_id=${page.owner.id}`}"
                  >Approve</a
                >
                ${button(`${page.path}/requests/${id}/decline`, 'Decline')}
              </li>`,
          )}
        </ul>
      </section>`
    }
    ${
      page.installed.length === 0
        ? html`<p class="muted">No App is installed.</p>`
        : html`<ul class="panel">
            ${page.installed.map(
              ({ id, app, suspended }) =>
                html`<li>
                  <a class="row" href="${`${page.path}/${id}`}"
                    ><span class="grow strong">${app.name}</span>${
                      suspended !== null && html`<span class="bad">Suspended</span>`
                    }</a
                  >
                </li>`,
            )}
          </ul>`
    }`
