/** Builds the web client into dist/web: hashed assets, each with .gz and .br siblings that a server can send as they are. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import type { Plugin } from 'vite'

const compressible = /\.(js|css|html|svg|json|webmanifest)$/
/** Below this a second file saves no packet. */
const smallest = 1_024

/** Writes `.gz` and `.br` beside every asset that gains from it, and whose name is like `which`. */
export function precompress(outDir: string, which = compressible): Plugin {
  return {
    name: 'flightdeck:precompress',
    apply: 'build',
    // And not when the bundle is closed: that comes after a failure too, and would hide it.
    async writeBundle() {
      const names = await readdir(outDir, { recursive: true })
      for (const name of names.filter((name) => which.test(name))) {
        const path = join(outDir, name)
        const body = await readFile(path)
        if (body.length < smallest) continue
        const brotli = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }
        await writeFile(`${path}.gz`, await promisify(gzip)(body, { level: 9 }))
        await writeFile(`${path}.br`, await promisify(brotliCompress)(body, brotli))
      }
    },
  }
}

/** Preloads the one font that every first screen shows; its file name is only known once it is hashed. */
function preloadFont(name: RegExp): Plugin {
  return {
    name: 'flightdeck:preload-font',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) =>
        Object.keys(bundle)
          .filter((file) => name.test(file))
          .map((file) => ({
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${file}`, crossorigin: true },
            injectTo: 'head' as const,
          })),
    },
  }
}

/**
 * The early script and the styles before all others: a browser has six connections to a server, and these are what the rest waits for.
 * The early script is small, and has begun to ask for things when the libraries come.
 */
function earlyFirst(): Plugin {
  const styles = /\s*<link rel="stylesheet"[^>]*>/
  return {
    name: 'flightdeck:early-first',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle = {} }) => {
        const early = Object.values(bundle).find((chunk) => chunk.type === 'chunk' && chunk.name === 'early')
        const [link = ''] = styles.exec(html) ?? []
        if (early === undefined || link === '') throw new Error('There is no early script, or no styles.')
        const script = `\n    <script type="module" async fetchpriority="high" crossorigin src="/${early.fileName}"></script>`
        const theme = '<script src="/theme.js"></script>'
        return html.replace(link, '').replace(theme, `${theme}${script}${link}`)
      },
    },
  }
}

/** Says of each chunk that all its functions run at its start: the browser compiles them beside the page's own thread, and not one by one on it. */
function compileAhead(chunks: RegExp): Plugin {
  return {
    name: 'flightdeck:compile-ahead',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler: (_options, bundle) => {
        for (const file of Object.values(bundle))
          if (file.type === 'chunk' && chunks.test(file.name))
            file.code = `//# allFunctionsCalledOnLoad\n${file.code}`
      },
    },
  }
}

const domain = join(import.meta.dirname, 'domain/')
/** What pages share with each other, beside packages that have a chunk of their own; a project's settings, downloads, fields, tiles and boxes to tick, strips of figures, the palette, desktop notifications, the App at GitHub and what is for administrators are no part of most. */
const own =
  /web\/src\/(?!main\.tsx|api\/useDownload|ui\/(?:form\/(?:Choice|Field)|layout\/Stats)|features\/(?:palette|github(?!\/lostA)|admin|downloads)\/|features\/(?:projects\/(?!projectsApi)|notifications\/useDesktop))|node_modules\/lucide-react\/(?!.*\/download\.)|domain\/agents\/capab/
/** Loaded when it is first opened, or after a page, from two pages. */
const alone =
  /features\/(mcp\/|task\/(PullRequestDialog|questions\/|provenance\/)|agents\/([mM]odel?[PT]|[kK]ey[ST]))|ui\/text\/HiddenMarks|domain\/(task\/questionOptions|kernel\/hiddenCharacters)/
/** What of a task's page its own parts share: the panels, the changes and the history. Nothing else has a search bar. */
const ofTask =
  /web\/src\/(features\/task\/(?!useCopy|PullRequestDialog|questions\/|provenance\/)|ui\/form\/SearchBar)|domain\/(history|views)\/|node_modules\/(@tanstack\/|devlop\/|lucide-react\/dist\/esm\/icons\/(arrow-left|columns-2|file-pen|git-commit-horizontal|git-fork|globe|message-square|rotate-ccw-clock|terminal|wrench)\.)/
/** What asks for things before the libraries are there, and can need none of them. */
const early =
  /web\/src\/(prefetch|app\/loading\/chunks|state\/tryOr|api\/(prefetched|callTimeout|tokenStore))\.ts$|domain\/api\/(auth|server|tasks)\.ts$|vite\/preload-helper/
const onEveryPage = /assets\/(rolldown-runtime|react|libraries|first)-/
const router = join(import.meta.dirname, 'node_modules/react-router/dist/production')
const outDir = join(import.meta.dirname, 'dist/web')

export default defineConfig({
  root: join(import.meta.dirname, 'web'),
  plugins: [
    react(),
    tailwindcss(),
    preloadFont(/geist-latin-wght-normal.*\.woff2$/),
    earlyFirst(),
    compileAhead(/^(react|libraries|first|shared|Layout|Dashboard|index)$/),
    precompress(outDir),
  ],
  resolve: {
    alias: [
      { find: /^#domain\//, replacement: domain },
      // Its package names the one with warnings for developers alone.
      { find: /^react-router$/, replacement: join(router, 'index.mjs') },
      { find: /^react-router\/dom$/, replacement: join(router, 'dom-export.mjs') },
    ],
  },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2023',
    // A font in a data: address would need the page's policy to allow it.
    assetsInlineLimit: 0,
    manifest: true,
    // Every browser that runs the client knows modulepreload.
    modulePreload: {
      polyfill: false,
      // What every page has loaded is not looked for again with each chunk.
      resolveDependencies: (_file, needed, { hostType }) =>
        hostType === 'js' ? needed.filter((file) => !onEveryPage.test(file)) : needed,
    },
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        index: join(import.meta.dirname, 'web/index.html'),
        early: join(import.meta.dirname, 'web/src/prefetch.ts'),
      },
      output: {
        // Chunks name each other, and hashes do not compress: one character less of each is some bytes of every page.
        entryFileNames: 'assets/[name]-[hash:7].js',
        chunkFileNames: 'assets/[name]-[hash:7].js',
        // What every page needs and rarely changes: cached across deployments.
        codeSplitting: {
          groups: [
            { name: 'early', priority: 3, test: early },
            {
              name: 'react',
              priority: 2,
              test: /node_modules\/(react|react-dom|scheduler)\//,
            },
            {
              name: 'libraries',
              priority: 2,
              test: /node_modules\/(react-router|react-router-dom|cookie|set-cookie-parser|@reduxjs|redux|redux-thunk|react-redux|reselect|immer|use-sync-external-store)\//,
            },
            // What signing in needs stays by itself: whoever signs in waits for no more than that.
            { name: 'first', test: own, priority: 1, tags: ['$initial'] },
            // A request each for thirty small pieces would cost more than the few kilobytes that come too early.
            {
              name: 'shared',
              test: (id: string) => own.test(id) && !ofTask.test(id) && !alone.test(id),
              minShareCount: 2,
            },
            // What the parts of a task's page share with each other alone is no part of other pages.
            { name: 'task', test: ofTask, minShareCount: 2 },
          ],
        },
      },
    },
  },
})
