/** The least that serves: Koa on a free port of 127.0.0.1, which it prints. */
import Koa from 'koa'

const app = new Koa()
app.use((context) => {
  context.body = { alive: true }
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) console.log(`Listening on ${address.port}`)
})
