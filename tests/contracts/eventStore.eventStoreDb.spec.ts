import { afterEach } from 'vitest'
import { openEventStoreDb } from '#platform/eventstore/eventStoreDb.ts'
import { startEventStoreDb } from '../standins/eventStoreDb.ts'
import { eventStoreContract } from './eventStore.contract.ts'

eventStoreContract('EventStoreDB', async () => {
  const server = await startEventStoreDb()
  const url = `esdb://127.0.0.1:${server.port}?tls=false`
  const open = () => openEventStoreDb({ url, onFault: (w, f) => console.log(w, f), onWaiting: () => {} })
  let store = await open()
  return {
    store,
    reopen: async () => {
      await store.close()
      store = await open()
      return store
    },
    close: async () => {
      await store.close()
      server.kill()
    },
  }
})
afterEach(()=>{})
