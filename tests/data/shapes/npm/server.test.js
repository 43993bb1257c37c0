const assert = require('node:assert')
const { test } = require('node:test')
const express = require('express')
const { chunk } = require('lodash')

test('a server answers', async () => {
  const server = express()
    .get('/', (_, response) => response.json(chunk([1, 2, 3], 2)))
    .listen(0)
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/`)
  assert.deepStrictEqual(await answer.json(), [[1, 2], [3]])
  server.close()
})
