/**
 * Loaded before the product (`node --import`): records everything that arrives at a port of the product's servers, in a file for each port in
 * `WIRE_FOLDER`.
 */
import { appendFileSync } from 'node:fs'
import { Server } from 'node:http'
import { join } from 'node:path'

const folder = process.env['WIRE_FOLDER'] ?? ''
const emit = Server.prototype.emit

/**
 * @this {Server}
 * @param {string | symbol} name
 * @param {unknown[]} args
 */
Server.prototype.emit = function (name, ...args) {
  const told = emit.call(this, name, ...args)
  const [socket] = args
  // Added after the server's own listener: an earlier listener would make the connection flow too soon.
  if (name === 'connection' && socket && typeof socket === 'object' && 'localPort' in socket) {
    const connection = /** @type {import('node:net').Socket} */ (socket)
    const file = join(folder, String(connection.localPort))
    connection.on('data', (chunk) => appendFileSync(file, chunk))
  }
  return told
}
