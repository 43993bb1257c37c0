/** HTML of the pages for choosing an account and for refusals. There are no passwords: people at this machine can read all data anyway. */
import { accounts } from '../state/accounts.ts'
import { html } from '#platform/http/html.ts'
import type { Html } from '#platform/http/html.ts'

const choices = (addressFor: (login: string) => string): Html =>
  html`<ul class="panel">
    ${accounts.map(
      (account) =>
        html`<li>
          <a class="row" href="${addressFor(account.login)}">
            <img class="avatar" src="${`/avatars/${account.login}`}" alt="" width="32" height="32" />
            <span class="grow"
              ><span class="strong">${account.name}</span><br /><span class="muted small"
                >${account.login}</span
              ></span
            ></a
          >
        </li>`,
    )}
  </ul>`

/** The page on which a person chooses the account with which an app may act. */
export const authorizePage = (page: {
  readonly appName: string
  readonly error: string | undefined
  readonly returnHost: string
  readonly addressFor: (login: string) => string
  readonly cancelAddress: string
}): Html =>
  html` <div class="stack">
      <h1>Sign in to ${page.appName}</h1>
      <p class="muted">
        ${page.appName} will read and write the repositories of the account that you choose. This is the local
        code host: its accounts have no passwords.
      </p>
    </div>
    ${page.error !== undefined && html`<p class="alert" role="alert">${page.error}</p>`}
    ${choices(page.addressFor)}
    <a class="button wide" href="${page.cancelAddress}">Cancel</a>
    <p class="muted small">Either way you go back to ${page.returnHost}.</p>`

/** The page on which a person chooses the account whose private pages this browser shows. */
export const loginPage = (page: { readonly error: string | undefined; readonly returnTo: string }): Html =>
  html` <div class="stack">
      <h1>Sign in</h1>
      <p class="muted">Choose the account that this browser looks with.</p>
    </div>
    ${page.error !== undefined && html`<p class="alert" role="alert">${page.error}</p>`}
    <ul class="panel">
      ${accounts.map(
        (account) =>
          html`<li class="row">
            <img class="avatar" src="${`/avatars/${account.login}`}" alt="" width="32" height="32" />
            <span class="grow"
              ><span class="strong">${account.name}</span><br /><span class="muted small"
                >${account.login}</span
              ></span
            >
            <form method="post" action="/login">
              <input type="hidden" name="login" value="${account.login}" /><input
                type="hidden"
                name="return_to"
                value="${page.returnTo}"
              />
              <button class="button" type="submit">Sign in as ${account.login}</button>
            </form>
          </li>`,
      )}
    </ul>`

/** The page that says why a request was refused. */
export const refusalPage = (page: {
  readonly title: string
  readonly sentence: string
  readonly hint?: Html | undefined
}): Html =>
  html`<div class="stack">
      <h1>${page.title}</h1>
      <p class="muted">${page.sentence}</p>
    </div>
    ${page.hint}`
