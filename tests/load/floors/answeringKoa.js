/** Koa that reads and writes JSON: it answers each path with what the file named in the arguments contains under that path, or else under `*`. */
import { readFileSync } from 'node:fs'
import { json } from 'node:stream/consumers'
import Koa from 'koa'

/** @type {Record<string, unknown>} */
const answers = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const app = new Koa()
app.use(async (context) => {
  if (context.is('json')) await json(context.req)
  context.body = answers[context.path] ?? answers['*']
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) console.log(`Listening on ${address.port}`)
})
