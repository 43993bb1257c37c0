/** The frame of every page, with its style sheet and security headers. Pages run no scripts. */
import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import { html } from '#platform/http/html.ts'
import type { Html } from '#platform/http/html.ts'

const style = `
:root{color-scheme:light dark;--bg:#fbfbfc;--panel:#fff;--raised:#f3f4f6;--text:#16181d;--muted:#5b6270;--line:#d9dce2;
--soft:#e9ebef;--control:#80868f;--accent:#4a45c9;--hover:#3f3ab5;--on-accent:#fff;--ok:#146c38;--bad:#b3261e;--run:#0b5cad;
--add:#e3f6e9;--del:#fdeae9;--ui:ui-sans-serif,system-ui,-apple-system,"Segoe UI",sans-serif;
--mono:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
@media(prefers-color-scheme:dark){:root{--bg:#0e1013;--panel:#15181d;--raised:#1d2127;--text:#eceef1;--muted:#a3abb8;--line:#2b3038;
--soft:#21252c;--control:#6f7886;--accent:#a9a6ff;--hover:#bcb9ff;--on-accent:#14122b;--ok:#5fd38d;--bad:#ff8a80;--run:#79b8ff;
--add:#12291c;--del:#331a1b}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);font:400 14px/20px var(--ui);overflow-wrap:anywhere}
h1,h2,p,ul,ol{margin:0;padding:0}ul,ol{list-style:none}
h1{font-size:24px;line-height:32px;font-weight:600;letter-spacing:-.02em}
h2{font-size:14px;line-height:20px;font-weight:600}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
code,.mono{font-family:var(--mono);font-size:12.5px}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.muted{color:var(--muted)}.small{font-size:12px;line-height:18px}
.ok{color:var(--ok)}.bad{color:var(--bad)}.run{color:var(--run)}
header.bar{display:flex;align-items:center;gap:16px;height:48px;padding:0 24px;background:var(--panel);border-bottom:1px solid var(--line)}
header.bar a.brand{color:var(--text);font-weight:600}header.bar .end{margin-left:auto;font-size:13px}header.bar .end a{text-decoration:underline}
main{max-width:960px;margin:0 auto;padding:32px 24px 64px}
main.narrow{max-width:400px;padding-top:14vh}
.stack>*+*{margin-top:8px}.blocks>*+*{margin-top:24px}
.panel{background:var(--panel);border:1px solid var(--line);border-radius:10px;overflow:hidden}
.panel>.head{padding:10px 16px;border-bottom:1px solid var(--line)}
.panel>.body{padding:16px}
.row{display:flex;align-items:center;gap:12px;padding:10px 16px;color:var(--text)}
li+li>.row,.row+.row{border-top:1px solid var(--soft)}
a.row:hover{background:var(--raised);text-decoration:none}.row .grow{flex:1;min-width:0}
.row .end{margin-left:auto}
.avatar{width:32px;height:32px;border-radius:50%;flex:none;display:block}
.strong{font-weight:600}
.button{display:inline-flex;align-items:center;justify-content:center;height:32px;padding:0 12px;border:1px solid var(--line);border-radius:6px;
background:var(--panel);color:var(--text);font:500 13px/20px var(--ui);cursor:pointer}
.button:hover{background:var(--raised);border-color:var(--control);text-decoration:none}
.button.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}.button.primary:hover{background:var(--hover);border-color:var(--hover)}
.button.wide{width:100%;height:40px;font-size:14px}
label.choice{display:flex;align-items:center;gap:8px;cursor:pointer}
input[type=text],select{height:32px;padding:0 8px;border:1px solid var(--control);border-radius:6px;background:var(--panel);color:var(--text);font:inherit}
input[type=text]{width:100%;max-width:400px}
.buttons{display:flex;flex-wrap:wrap;gap:8px}
.alert{padding:10px 16px;border:1px solid var(--bad);border-radius:6px;background:var(--del)}
.facts{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:center}
.state{font-weight:600}
.chip{padding:0 7px;border:1px solid var(--line);border-radius:10px;font-size:12px;line-height:18px;color:var(--muted);white-space:nowrap}
pre.text{margin:0;white-space:pre-wrap;font:inherit}
.copy{display:block;width:100%;padding:8px 10px;background:var(--raised);border-radius:6px;user-select:all}
.diff{overflow-x:auto;position:relative}
table.code{border-collapse:collapse;width:100%;font:400 12.5px/20px var(--mono);overflow-wrap:normal}
table.code td{padding:0 10px;white-space:pre;vertical-align:top}
table.code td.n{width:1%;text-align:right;color:var(--muted);user-select:none}
table.code td.sign{width:1%;padding:0 0 0 8px}table.code td.sign+td{padding-left:4px}
tr.added td{background:var(--add)}tr.deleted td{background:var(--del)}tr.hunk td,tr.note td{background:var(--raised);color:var(--muted)}
.minus{color:var(--bad)}.plus{color:var(--ok)}
.field{display:block}form.facts input[type=text]{width:180px}.field textarea{display:block;width:100%;margin-top:4px;padding:8px;border:1px solid var(--control);border-radius:6px;background:var(--panel);
color:var(--text);font:400 14px/20px var(--ui);resize:vertical}
pre.hunk{margin:0;padding:8px 16px;overflow-x:auto;background:var(--raised);border-bottom:1px solid var(--soft);font:400 12.5px/20px var(--mono)}
.said{align-items:flex-start;border-top:1px solid var(--soft)}
table.code td.n a{color:inherit;display:block}table.code td.form{padding:16px;white-space:normal;font:400 14px/20px var(--ui)}
@media(max-width:600px){main{padding:24px 16px 48px}header.bar{padding:0 16px}}
`

const styleHash = createHash('sha256').update(style).digest('base64')

const policy = (formsTo: readonly string[]): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "img-src 'self'",
    `form-action ${["'self'", ...formsTo].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Allows a form on the page to redirect to the site of `address`. `form-action` applies to redirects too. */
export function allowFormsTo(ctx: Context, address: string): void {
  ctx.set('Content-Security-Policy', policy([new URL(address).origin]))
}

/** Sets the security headers that every answer of the code host has by default. */
export function protect(ctx: Context): void {
  ctx.set('Content-Security-Policy', policy([]))
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('X-Frame-Options', 'DENY')
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.set('Cache-Control', 'no-store')
}

export interface Page {
  readonly title: string
  /** The bar at the top with the account of the viewer. A page without a bar looks like a dialog. */
  readonly bar: { readonly login: string | undefined; readonly returnTo: string } | 'none'
  readonly content: Html
}

/** Answers with a page. */
export function show(ctx: Context, status: number, page: Page): void {
  ctx.status = status
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
${html`<title>${page.title}</title>`.html}<style>${style}</style></head>
<body>${(page.bar === 'none' ? narrow(page.content) : wide(page.bar, page.content)).html}</body></html>`
}

const narrow = (content: Html) => html`<main class="narrow blocks">${content}</main>`

const wide = (bar: { login: string | undefined; returnTo: string }, content: Html) =>
  html` <header class="bar">
      <a class="brand" href="/">Local code host</a
      ><span class="end muted"
        >${
          bar.login === undefined
            ? html`<a href="${`/login?return_to=${encodeURIComponent(bar.returnTo)}`}">Sign in</a>`
            : html`Signed in as
                <a href="${`/login?return_to=${encodeURIComponent(bar.returnTo)}`}">${bar.login}</a>`
        }</span
      >
    </header>
    <main class="blocks">${content}</main>`
