/**
 * Builds the player of saved replays: one page, dist/web/replay.html, with its script, styles and fonts in it. The client fetches it and puts
 * a recording into it (`web/src/features/task/savedReplay`). It is a build of its own, after that of vite.config.ts, and no chunk of the
 * client depends on it.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import type { Plugin } from 'vite'
import { precompress } from './vite.config.ts'

const outDir = join(import.meta.dirname, 'dist/web')
const web = join(import.meta.dirname, 'web')

interface Parts {
  /** Runs before the first paint. */
  readonly theme: string
  readonly styles: string
  readonly script: string
}

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The page may run these scripts and no others, and asks no network for anything. */
function pageOf({ theme, styles, script }: Parts): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(theme)} ${hashOf(script)}`,
    `style-src ${hashOf(styles)}`,
    'font-src data:',
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="content-security-policy" content="${policy}" />
    <script>${theme}</script>
    <meta name="referrer" content="no-referrer" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Saved replay</title>
    <style>${styles}</style>
  </head>
  <body>
    <div id="root"></div>
    <noscript>This replay needs JavaScript.</noscript>
    <script type="application/json" id="recording"></script>
    <script type="module">${script}</script>
  </body>
</html>
`
}

/** A script as the text of an element: it holds no words that would end it. */
function asElementText(script: string): string {
  return script.replaceAll(/<\/(script)/gi, String.raw`<\/$1`).replaceAll('<!--', String.raw`<\!--`)
}

/** Writes the one page in place of the script and the styles that were built. */
function onePage(): Plugin {
  return {
    name: 'flightdeck:one-page',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const files = Object.values(bundle)
        const chunks = files.filter((file) => file.type === 'chunk')
        const assets = files.filter((file) => file.type === 'asset')
        const [chunk] = chunks
        const [styles] = assets
        if (chunk === undefined || chunks.length > 1 || styles === undefined || assets.length > 1)
          throw new Error(
            `The player is more than a script and its styles: ${Object.keys(bundle).join(', ')}`,
          )
        const css = String(styles.source)
        if (/<\/style/i.test(css)) throw new Error('The styles would end their own element.')
        for (const name of Object.keys(bundle)) delete bundle[name]
        const theme = await readFile(join(web, 'public/theme.js'), 'utf8')
        this.emitFile({
          type: 'asset',
          fileName: 'replay.html',
          source: pageOf({ theme, styles: css, script: asElementText(chunk.code) }),
        })
      },
    },
  }
}

export default defineConfig({
  root: web,
  publicDir: false,
  plugins: [react(), tailwindcss(), onePage(), precompress(outDir, /^replay\.html$/)],
  resolve: { alias: [{ find: /^#domain\//, replacement: join(import.meta.dirname, 'domain/') }] },
  build: {
    outDir,
    // The client is there already.
    emptyOutDir: false,
    target: 'es2023',
    // Fonts too are in the page.
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: join(web, 'src/features/task/savedReplay/main.tsx'),
      output: { codeSplitting: false },
    },
  },
})
