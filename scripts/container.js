/** Start of the image: takes each secret from its file, then serves. So none stands in an image, a compose file or `docker inspect`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = '/run/secrets'
const secrets = existsSync(folder) ? readdirSync(folder).filter((name) => /^[A-Z][A-Z0-9_]*$/.test(name)) : []
for (const name of secrets) process.env[name] = readFileSync(join(folder, name), 'utf8').trimEnd()

await import(new URL('../dist/server/main.js', import.meta.url).href)
