/** `npm run dev`: runs the server from its sources and restarts it at each change, behind the web client with hot reloading. */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const target = `http://127.0.0.1:${process.env.PORT ?? 8080}`

/** The server sends the browser back to the address at which it was asked, which must be the one of this process. */
const changeOrigin = false

const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')
const args = [tsx, 'watch', '--clear-screen=false', join(root, 'services/main.ts'), ...process.argv.slice(2)]
const server = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })

const web = await createServer({
  configFile: join(root, 'vite.config.ts'),
  server: {
    host: '127.0.0.1',
    proxy: { '/api': { target, changeOrigin }, '/socket.io': { target, changeOrigin, ws: true } },
  },
})
await web.listen()
web.printUrls()

let stopping = false
const stop = async () => {
  stopping = true
  server.kill('SIGTERM')
  await web.close()
}
process.once('SIGINT', stop).once('SIGTERM', stop)
server.once('exit', (code) => web.close().finally(() => process.exit(stopping ? 0 : (code ?? 1))))
