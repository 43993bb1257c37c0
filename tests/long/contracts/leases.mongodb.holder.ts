/** A program that takes a lease and prints what happens to it, one word per line: `starts`, `stops`. */
import { openMongoLeases } from '#platform/leases/mongodb.ts'
import { openMongo } from '#platform/engines/mongoConnection.ts'

const [url = '', database = '', name = ''] = process.argv.slice(2)
const mongo = await openMongo({ url, database, onWaiting: () => {} })
const leases = openMongoLeases({ mongo, onFault: () => {} })
const say = (word: string): void => void process.stdout.write(`${word}\n`)
say('waits')
leases.hold(name, async () => {
  say('starts')
  return { stop: async () => say('stops') }
})
